from phexplore import errors as errors
from phexplore.decide.verifying import Verification as Verification
from phexplore.errors import PhexploreError as PhexploreError
from phexplore.interface.data import Data as Data
from phexplore.interface.data import Spine as Spine
from phexplore.interface.data import measurements as measurements
from phexplore.interface.data import read as read
from phexplore.interface.data import synth as synth
from phexplore.interface.decisions import (
    approve as approve,
)
from phexplore.interface.decisions import (
    compare as compare,
)
from phexplore.interface.decisions import (
    frontier as frontier,
)
from phexplore.interface.decisions import (
    solve as solve,
)
from phexplore.interface.decisions import (
    verify as verify,
)
from phexplore.interface.runs import Run as Run
from phexplore.interface.runs import open_run as open_run
from phexplore.interface.runs import run as run
from phexplore.interface.scenarios import Forecast as Forecast
from phexplore.interface.scenarios import Scenario as Scenario
from phexplore.interface.scenarios import epsilon as epsilon
from phexplore.interface.scenarios import forecast as forecast
from phexplore.interface.scenarios import load as load
from phexplore.interface.scenarios import presets as presets
from phexplore.interface.studies import Study as Study
from phexplore.interface.sweeps import sweep as sweep
from phexplore.model.issues import Issue as Issue

__version__: str
