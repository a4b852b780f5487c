"""A campaign of faults that anyone can run for as long as they like: `make test-faults ARGS="--kills 200"`.

Each kind of fault is a module whose function `outcomes` gives one outcome after another; `record` counts them.
"""
