"""Language models behind a server: vLLM, SGLang, llama.cpp, and whatever speaks OpenAI's chat API."""
