"""Shoal makes a table of people safe to publish. Publish the table, not the people.

>>> import pandas as pd
>>> import shoal
>>> people = pd.DataFrame({"age": [31, 36, 35, 61], "disease": ["flu", "flu", "asthma", "flu"]})
>>> release = shoal.anonymize(people, quasi="age", sensitive="disease", k=2)
>>> release.table.age.tolist()
['[31~35]', '[31~35]', '[36~61]', '[36~61]']

`shoal.api` describes every function. Names are loaded on first use: `import shoal` takes no time.
"""

from typing import TYPE_CHECKING

from shoal.version import __version__ as __version__

if TYPE_CHECKING:
    from shoal.api import (
        Demo as Demo,
        Listing as Listing,
        anonymize as anonymize,
        apply as apply,
        assess as assess,
        attack as attack,
        compare as compare,
        criteria as criteria,
        decode as decode,
        decode_file as decode_file,
        demo as demo,
        draft_policy as draft_policy,
        inspect as inspect,
        list_methods as list_methods,
        list_metrics as list_metrics,
        list_models as list_models,
        list_presets as list_presets,
        reproduce as reproduce,
        run as run,
        studio as studio,
        utility as utility,
        verify as verify,
        write_sample as write_sample,
    )
    from shoal.analysis.utility import Utility as Utility
    from shoal.comparison.comparison import Comparison as Comparison
    from shoal.decoding.files import Decoding as Decoding
    from shoal.engines.label_mapping import LabelMapping as LabelMapping
    from shoal.errors import (
        HierarchyError as HierarchyError,
        Infeasible as Infeasible,
        InputError as InputError,
        PolicyError as PolicyError,
        ShoalError as ShoalError,
        ShoalWarning as ShoalWarning,
        VerificationFailed as VerificationFailed,
    )
    from shoal.evidence.disclosure import Disclosure as Disclosure
    from shoal.hierarchy import Hierarchy as Hierarchy
    from shoal.methods.bottom_up import BottomUp as BottomUp
    from shoal.methods.classfly import Classfly as Classfly
    from shoal.methods.classfly_plus import ClassflyPlus as ClassflyPlus
    from shoal.methods.datafly import Datafly as Datafly
    from shoal.methods.flexible_partition import FlexiblePartition as FlexiblePartition
    from shoal.methods.incognito import Incognito as Incognito
    from shoal.methods.k_clustering import KClustering as KClustering
    from shoal.methods.l_clustering import LClustering as LClustering
    from shoal.methods.least_loss_partition import LeastLossPartition as LeastLossPartition
    from shoal.methods.mondrian import Mondrian as Mondrian
    from shoal.methods.optimal import Optimal as Optimal
    from shoal.methods.top_down import TopDown as TopDown
    from shoal.models.alpha import Alpha as Alpha
    from shoal.models.average_risk import AverageRisk as AverageRisk
    from shoal.models.beta import Beta as Beta
    from shoal.models.delta import Delta as Delta
    from shoal.models.estimated_k_map import EstimatedKMap as EstimatedKMap
    from shoal.models.k import K as K
    from shoal.models.l import (
        EntropyL as EntropyL,
        L as L,
        RecursiveL as RecursiveL,
    )
    from shoal.models.population import (
        DeltaPresence as DeltaPresence,
        KMap as KMap,
    )
    from shoal.models.t import T as T
    from shoal.policy import Policy as Policy
    from shoal.progress import ProgressEvent as ProgressEvent
    from shoal.release import Release as Release
    from shoal.reproduction.base import Reproduction as Reproduction
    from shoal.risk.assessment import Assessment as Assessment
    from shoal.risk.attack import Attack as Attack
    from shoal.risk.criteria import Criteria as Criteria
    from shoal.risk.draft import Draft as Draft
    from shoal.risk.inspection import Inspection as Inspection
    from shoal.verification.verification import Verification as Verification

else:
    _NAMES = {
        "shoal.api": (
            "Demo Listing anonymize apply assess attack compare criteria decode decode_file demo "
            "draft_policy inspect list_methods list_metrics list_models list_presets reproduce run "
            "studio utility verify write_sample "
        ),
        "shoal.analysis.utility": "Utility",
        "shoal.comparison.comparison": "Comparison",
        "shoal.decoding.files": "Decoding",
        "shoal.engines.label_mapping": "LabelMapping",
        "shoal.errors": (
            "HierarchyError Infeasible InputError PolicyError ShoalError ShoalWarning "
            "VerificationFailed "
        ),
        "shoal.evidence.disclosure": "Disclosure",
        "shoal.hierarchy": "Hierarchy",
        "shoal.methods.bottom_up": "BottomUp",
        "shoal.methods.classfly": "Classfly",
        "shoal.methods.classfly_plus": "ClassflyPlus",
        "shoal.methods.datafly": "Datafly",
        "shoal.methods.flexible_partition": "FlexiblePartition",
        "shoal.methods.incognito": "Incognito",
        "shoal.methods.k_clustering": "KClustering",
        "shoal.methods.l_clustering": "LClustering",
        "shoal.methods.least_loss_partition": "LeastLossPartition",
        "shoal.methods.mondrian": "Mondrian",
        "shoal.methods.optimal": "Optimal",
        "shoal.methods.top_down": "TopDown",
        "shoal.models.alpha": "Alpha",
        "shoal.models.average_risk": "AverageRisk",
        "shoal.models.beta": "Beta",
        "shoal.models.delta": "Delta",
        "shoal.models.estimated_k_map": "EstimatedKMap",
        "shoal.models.k": "K",
        "shoal.models.l": "EntropyL L RecursiveL",
        "shoal.models.population": "DeltaPresence KMap",
        "shoal.models.t": "T",
        "shoal.policy": "Policy",
        "shoal.progress": "ProgressEvent",
        "shoal.release": "Release",
        "shoal.reproduction.base": "Reproduction",
        "shoal.risk.assessment": "Assessment",
        "shoal.risk.attack": "Attack",
        "shoal.risk.criteria": "Criteria",
        "shoal.risk.draft": "Draft",
        "shoal.risk.inspection": "Inspection",
        "shoal.verification.verification": "Verification",
    }
    _HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
    __all__ = sorted(_HOME)

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'shoal' has no attribute '{name}'")
        import importlib

        return getattr(importlib.import_module(_HOME[name]), name)

    def __dir__():
        return [*__all__, "__version__"]
