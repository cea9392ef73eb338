"""Lexloop: cited, checked answers to questions about laws, rules and policies."""

import os

# Read by the libraries when they are imported, and nothing of Lexloop is imported before this.
# Who has set one keeps it. LangSmith sends nothing unless LANGSMITH_TRACING says so.
_QUIET = (
    "ORT_DISABLE_TELEMETRY",  # onnxruntime looks up its maker's host once it is loaded
    "HF_HUB_DISABLE_TELEMETRY",  # huggingface_hub tells which libraries ask it, and how
    "DISABLE_SAFETENSORS_CONVERSION",  # transformers posts a model's name and the hub's token
)
for _name in _QUIET:
    os.environ.setdefault(_name, "1")
