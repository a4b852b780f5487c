"""Language models behind a server: vLLM, llama.cpp, and whatever speaks OpenAI's chat API."""
