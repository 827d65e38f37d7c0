"""Random input. Damaged sources, configurations and command lines must end orderly; what valid kernels compute must agree
with a compiler (``agree``)."""
