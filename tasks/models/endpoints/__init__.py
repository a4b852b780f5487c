"""Language models behind a server: vLLM, llama.cpp, and every other server with OpenAI's chat API."""
