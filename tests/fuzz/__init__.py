"""Random input. Damaged sources, configurations and command lines must end orderly; what valid kernels compute must be
what a compiler makes of them (``agree``)."""
