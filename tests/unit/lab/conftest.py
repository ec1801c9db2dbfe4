import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Matrices here are tiny: on a busy machine a second thread makes them a hundred times slower."""
    with threadpool_limits(1):
        yield
