"""Policies that cannot be meant, each with the exact text that its author reads."""

from shoal.policy import column
from shoal.policy.policy import GUIDE

KEYS = ", ".join(GUIDE.keys[()])
COLUMN_KEYS = ", ".join(GUIDE.keys[("columns", "*")])
ROLES = ", ".join(column.ROLES)
COLUMNS = "columns: {age: quasi, zip: quasi, disease: sensitive, name: identifier}\n"
K = "constraints: [{k: 5}]\n"


def age_is(column: str) -> str:
    return f"columns:\n  age: {column}\n  zip: quasi\n{K}"


def constraint_is(constraint: str) -> str:
    return f"{COLUMNS}constraints:\n  - {constraint}\n"


def with_line(line: str) -> str:
    return f"{COLUMNS}{K}{line}\n"


BAD_POLICIES = [
    (
        age_is("{role: quasi, levels: {a: 1}}"),
        "policy:2: columns.age.levels: found on a column with the role quasi; only a sensitive "
        "column has them",
    ),
    (
        age_is("{role: sensitive, levels: {a: 0}}"),
        "policy:2: columns.age.levels.a: found 0 as a level; must be a whole number from 1 to 100",
    ),
    (
        age_is("{role: sensitive, levels: {1: [a], 2: [b, a]}}"),
        "policy:2: columns.age.levels.2[1]: 'a' has a level already: 1",
    ),
    (
        age_is("{role: sensitive, levels: {1: [a], x: [b]}}"),
        "policy:2: columns.age.levels.x: found 'x' as a level; must be a whole number from 1 to 100",
    ),
    (
        age_is("{role: sensitive, levels: {}}"),
        "policy:2: columns.age.levels: found an empty mapping; write a level per value, as in "
        "{flu: 1, HIV: 4}, or values per level, as in {1: [flu]}",
    ),
    (
        age_is("{role: sensitive, levels: {a: 1}, preference: zip}"),
        "policy:2: columns.age.preference: needs `hierarchy` too",
    ),
    (
        age_is("{role: sensitive, levels: {a: 1}, hierarchy: {tree: {x: [a]}}, preference: zip}"),
        "policy:2: columns.age.preference: 'zip' has the role quasi; only preference columns are "
        "allowed here: there are none",
    ),
    (
        K,
        "policy: columns: missing; list every column of the table with its role, as in "
        "`age: quasi`",
    ),
    (
        COLUMNS + " \n",
        "policy: constraints: missing; write at least one, as in `constraints: [{k: 5}]`",
    ),
    (
        age_is("quazi"),
        f"policy:2: columns.age.role: found 'quazi'; allowed: {ROLES}. Did you mean 'quasi'?",
    ),
    (
        age_is("quasi-identifier"),
        f"policy:2: columns.age.role: found 'quasi-identifier'; allowed: {ROLES}. Did you mean 'quasi'?",
    ),
    (
        age_is("identifer"),
        f"policy:2: columns.age.role: found 'identifer'; allowed: {ROLES}. Did you mean 'identifier'?",
    ),
    (
        age_is(""),
        f"policy:2: columns.age: found nothing; give it a role, one of: {ROLES}",
    ),
    (
        age_is("5"),
        f"policy:2: columns.age: found 5; give it a role, one of: {ROLES}",
    ),
    (
        age_is("[quasi]"),
        f"policy:2: columns.age: found a list; give it a role, one of: {ROLES}",
    ),
    (
        age_is("{kind: ordered}"),
        f"policy:2: columns.age.role: missing; write one of: {ROLES}",
    ),
    (
        age_is("{role: quasi, kind: orderd}"),
        "policy:2: columns.age.kind: found 'orderd'; allowed: ordered, unordered. Did you "
        "mean 'ordered'?",
    ),
    (
        age_is("{role: quasi, knd: ordered}"),
        f"policy:2: columns.age.knd: unknown key; allowed: {COLUMN_KEYS}. Did you mean 'kind'?",
    ),
    (
        age_is("{role: quasi, kind: numeric}"),
        "policy:2: columns.age.kind: found 'numeric'; allowed: ordered, unordered. Did you "
        "mean 'ordered'?",
    ),
    (
        age_is("{role: plain, kind: ordered}"),
        "policy:2: columns.age.kind: found on a column with the role plain; only a quasi "
        "or sensitive column has one",
    ),
    (
        age_is("{role: identifier, hierarchy: {mask: right}}"),
        "policy:2: columns.age.hierarchy: found on a column with the role identifier; only "
        "a quasi or sensitive column has one",
    ),
    (
        age_is("{role: plain, order: [a, b]}"),
        "policy:2: columns.age.order: found on a column with the role plain; only a "
        "quasi or sensitive column has one",
    ),
    (
        age_is("{role: sensitive, kind: ordered, hierarchy: {mask: right}}"),
        "policy:2: columns.age.kind: cannot be combined with `hierarchy`; choose one of the two",
    ),
    (
        age_is("{role: sensitive, order: [a, b], hierarchy: {mask: right}}"),
        "policy:2: columns.age.order: cannot be combined with `hierarchy`; choose one of the two",
    ),
    (
        age_is("{role: quasi, kind: unordered, order: [a, b]}"),
        "policy:2: columns.age.order: cannot be combined with `kind: unordered`; choose one of the two",
    ),
    (
        age_is("{role: quasi, order: [low, high, low]}"),
        "policy:2: columns.age.order: found more than once: low",
    ),
    (
        age_is("{role: quasi, order: []}"),
        "policy:2: columns.age.order: found an empty list; must be a list of 1 or more",
    ),
    (
        age_is("{role: quasi, order: low}"),
        "policy:2: columns.age.order: found 'low'; must be a list",
    ),
    (
        age_is("{role: quasi, order: [low, ~]}"),
        "policy:2: columns.age.order[1]: found nothing; must be text",
    ),
    (
        "columns: [age, zip]\n" + K,
        "policy:1: columns: found a list; must be a mapping; list every column of the "
        "table with its role, as in `age: quasi`",
    ),
    (
        "columns:\n" + K,
        "policy:1: columns: found nothing; must be a mapping; list every column of the "
        "table with its role, as in `age: quasi`",
    ),
    (
        "columns: {name: identifier}\n" + K,
        "policy:1: columns: no column has the role quasi; give it to the columns by which "
        "people can be recognised, such as age or zip",
    ),
    (
        COLUMNS + "constraints: []\n",
        "policy:2: constraints: found an empty list; write at least one, as in "
        "`constraints: [{k: 5}]`",
    ),
    (
        COLUMNS + "constraints:\n",
        "policy:2: constraints: found nothing; must be a list; write at least one, as in "
        "`constraints: [{k: 5}]`",
    ),
    (
        COLUMNS + "constraints: {k: 5}\n",
        "policy:2: constraints: found a mapping; must be a list; write at least one, as in "
        "`constraints: [{k: 5}]`",
    ),
    (
        COLUMNS + "constraints: 5\n",
        "policy:2: constraints: found 5; must be a list; write at least one, as in "
        "`constraints: [{k: 5}]`",
    ),
    (
        constraint_is("k"),
        "policy:3: constraints[0]: found 'k'; must be a mapping with a model as a key, as "
        "in {k: 5}",
    ),
    (
        constraint_is("{kk: 5}"),
        "policy:3: constraints[0]: found the key 'kk' and no model; write the model as a "
        "key, as in {k: 5}; allowed: k, l. Did you mean 'k'?",
    ),
    (
        constraint_is("{anonymity: 5, on: [age]}"),
        "policy:3: constraints[0]: found the keys anonymity, on and no model; write the "
        "model as a key, as in {k: 5}; allowed: k, l.",
    ),
    (
        constraint_is("{}"),
        "policy:3: constraints[0]: is empty; name a model, as in {k: 5}; allowed: k, l",
    ),
    (
        constraint_is("{k: 0}"),
        "policy:3: constraints[0].k: found 0; must be 1 or more",
    ),
    (
        constraint_is("{k: -3}"),
        "policy:3: constraints[0].k: found -3; must be 1 or more",
    ),
    (
        constraint_is("{k: five}"),
        "policy:3: constraints[0].k: found 'five'; must be a whole number",
    ),
    (
        constraint_is("{k: 2.5}"),
        "policy:3: constraints[0].k: found 2.5; must be a whole number",
    ),
    (
        constraint_is("{k: true}"),
        "policy:3: constraints[0].k: found true; must be a whole number, 1 or more",
    ),
    (
        constraint_is("{k: }"),
        "policy:3: constraints[0].k: found nothing; must be a whole number",
    ),
    (
        constraint_is("{k: [5]}"),
        "policy:3: constraints[0].k: found a list; must be a whole number",
    ),
    (
        constraint_is("{k: 5, onn: [age]}"),
        "policy:3: constraints[0].onn: not an option of k; allowed: k, on. Did you mean 'on'?",
    ),
    (
        constraint_is("{k: 5, of: disease}"),
        "policy:3: constraints[0].of: not an option of k; allowed: k, on.",
    ),
    (
        constraint_is("{k: 5, l: 3, of: disease}"),
        "policy:3: constraints[0]: holds 2 models, k, l; write each on its own: {k: ...}, {l: ...}",
    ),
    (
        constraint_is("{k: 5, on: []}"),
        "policy:3: constraints[0].on: is empty; name quasi columns, or leave `on` out to "
        "mean all of them",
    ),
    (
        constraint_is("{k: 5, on: [age, age]}"),
        "policy:3: constraints[0].on[1]: 'age' is listed twice; keep one",
    ),
    (
        constraint_is("{k: 5, on: [agee]}"),
        "policy:3: constraints[0].on[0]: found 'agee'; allowed: age, zip. Did you mean 'age'?",
    ),
    (
        constraint_is("{k: 5, on: [age, disease]}"),
        "policy:3: constraints[0].on[1]: 'disease' has the role sensitive; only quasi "
        "columns are allowed here: age, zip",
    ),
    (
        constraint_is("{k: 5, on: {age: 1}}"),
        "policy:3: constraints[0].on[0]: found a mapping; must be text",
    ),
    (
        constraint_is("{k: 5, on: [true]}"),
        "policy:3: constraints[0].on[0]: found true; must be text (put it in quotes)",
    ),
    (
        constraint_is("{l: 3}"),
        "policy:3: constraints[0].of: missing. The sensitive column; allowed: disease",
    ),
    (
        constraint_is("{l: 3, of: diseas}"),
        "policy:3: constraints[0].of: found 'diseas'; allowed: disease. Did you mean 'disease'?",
    ),
    (
        constraint_is("{l: 3, of: age}"),
        "policy:3: constraints[0].of: 'age' has the role quasi; only sensitive columns are "
        "allowed here: disease",
    ),
    (
        constraint_is("{l: 3, of: [disease]}"),
        "policy:3: constraints[0].of: found a list; must be text",
    ),
    (
        constraint_is("{k: 5}\n  - {k: 5}"),
        "policy:4: constraints[1]: is the same as constraints[0]; remove one of them",
    ),
    (
        constraint_is("{k: 5}\n  - {k: 5, on: [zip, age]}"),
        "policy:4: constraints[1]: is the same as constraints[0]; remove one of them",
    ),
    (
        "columns: {age: quasi}\nconstraints: [{l: 2, of: disease}]\n",
        "policy:2: constraints[0].of: found 'disease'; no column has the role sensitive",
    ),
    (
        with_line("method: mondrain"),
        "policy:3: method: found 'mondrain'; allowed: auto, flexible-partition, "
        "least-loss-partition, mondrian. Did you mean 'mondrian'?",
    ),
    (
        with_line("method: least_loss_partition"),
        "policy:3: method: found 'least_loss_partition'; allowed: auto, flexible-partition, "
        "least-loss-partition, mondrian. Did you mean 'least-loss-partition'?",
    ),
    (
        with_line("method: 5"),
        "policy:3: method: found 5; must be a method's name, as in `method: mondrian`",
    ),
    (
        with_line("method:"),
        "policy:3: method: found nothing; must be a method's name, as in `method: mondrian`",
    ),
    (
        with_line("method: {strict: false}"),
        "policy:3: method: names no method; write `name: ...` with one of: "
        "auto, flexible-partition, least-loss-partition, mondrian",
    ),
    (
        with_line("method: {name: mondrain}"),
        "policy:3: method: found 'mondrain'; allowed: auto, flexible-partition, "
        "least-loss-partition, mondrian. Did you mean 'mondrian'?",
    ),
    (
        with_line("method: {name: mondrian, strct: false}"),
        "policy:3: method.strct: not an option of mondrian; allowed: strict, median. Did you mean "
        "'strict'?",
    ),
    (
        with_line("method: {name: mondrian, strict: maybe}"),
        "policy:3: method.strict: found 'maybe'; must be true or false",
    ),
    (
        with_line("method: {name: least-loss-partition, strict: false}"),
        "policy:3: method.strict: not an option of least-loss-partition, which has none",
    ),
    (
        with_line("method: {name: flexible-partition, dimension: wide}"),
        "policy:3: method.dimension: found 'wide'; allowed: least-loss, widest. Did you "
        "mean 'widest'?",
    ),
    (
        with_line("suppression: 5"),
        "policy:3: suppression: found 5; must be a number from 0 to 1 (5 % is 0.05)",
    ),
    (
        with_line("suppression: 5%"),
        "policy:3: suppression: found '5%'; must be a number from 0 to 1 (5 % is 0.05)",
    ),
    (
        with_line("suppression: -0.1"),
        "policy:3: suppression: found -0.1; must be a number from 0 to 1 (5 % is 0.05)",
    ),
    (
        with_line("suppression: true"),
        "policy:3: suppression: found true; must be a number from 0 to 1 (5 % is 0.05)",
    ),
    (
        with_line("suppression: .nan"),
        "policy:3: suppression: found nan; must be a number from 0 to 1 (5 % is 0.05)",
    ),
    (
        with_line("suppressed: hidden"),
        "policy:3: suppressed: found 'hidden'; allowed: withheld, starred.",
    ),
    (
        with_line("order: sort"),
        "policy:3: order: found 'sort'; allowed: sorted, kept. Did you mean 'sorted'?",
    ),
    (
        with_line("seed: -1"),
        "policy:3: seed: found -1; must be 0 or more",
    ),
    (
        with_line("seed: 1.5"),
        "policy:3: seed: found 1.5; must be a whole number",
    ),
    (
        with_line("seed: abc"),
        "policy:3: seed: found 'abc'; must be a whole number",
    ),
    (
        with_line("seed: true"),
        "policy:3: seed: found true; must be a whole number",
    ),
    (
        with_line(f"seed: {10**80}"),
        f"policy:3: seed: found {'1' + '0' * 59}...; must be below {2**256}",
    ),
    (
        with_line("default: keep"),
        "policy:3: default: found 'keep'; allowed: drop.",
    ),
    (
        with_line("target: salary"),
        "policy:3: target: found 'salary'; allowed: age, zip, disease.",
    ),
    (
        with_line("target: name"),
        "policy:3: target: 'name' has the role identifier and is not published; choose "
        "another column",
    ),
    (
        with_line("metrics: [npc]"),
        "policy:3: metrics[0]: found 'npc'; allowed: ncp. Did you mean 'ncp'?",
    ),
    (
        with_line("metrics: {name: ncp, queries: 0}"),
        "policy:3: metrics[0].queries: not an option of ncp, which has none",
    ),
    (
        with_line("metrics: [ncp, ncp]"),
        "policy:3: metrics[1]: 'ncp' is listed twice; keep one",
    ),
    (
        with_line("metrics: [{queries: 5}]"),
        "policy:3: metrics[0]: names no metric; write `name: ...` with one of: ncp",
    ),
    (
        with_line("metrics: 5"),
        "policy:3: metrics: found 5; must be a list",
    ),
    (
        with_line("metrics: [5]"),
        "policy:3: metrics[0]: found 5; must be a metric's name, as in `metrics: [query-error]`",
    ),
    (
        with_line("folder: /tmp"),
        f"policy:3: folder: unknown key; allowed: {KEYS}. Did you mean 'order'?",
    ),
    (
        with_line("sed: 4"),
        f"policy:3: sed: unknown key; allowed: {KEYS}. Did you mean 'seed'?",
    ),
    (
        with_line("constraint: []"),
        f"policy:3: constraint: unknown key; allowed: {KEYS}. Did you mean 'constraints'?",
    ),
    (
        with_line("x: 1\ny: 2\nz: 3"),
        f"policy:3: x: unknown key; allowed: {KEYS}.\n"
        f"policy:4: y: unknown key; allowed: {KEYS}.\n"
        f"policy:5: z: unknown key; allowed: {KEYS}.",
    ),
    (
        "columns:\n  age: {role: quasi, knd: x, kind: orderd}\n  zip: qasi\n"
        "constraints: [{k: 0}, {m: 3}]\nmethod: mondrain\nseed: -1\nsupression: 2\n",
        "policy:2: columns.age.kind: found 'orderd'; allowed: ordered, unordered. Did you "
        "mean 'ordered'?\n"
        f"policy:2: columns.age.knd: unknown key; allowed: {COLUMN_KEYS}. Did you mean 'kind'?\n"
        f"policy:3: columns.zip.role: found 'qasi'; allowed: {ROLES}. Did you mean 'quasi'?\n"
        "policy:4: constraints[0].k: found 0; must be 1 or more\n"
        "policy:4: constraints[1]: found the key 'm' and no model; write the model as a "
        "key, as in {k: 5}; allowed: k, l.\n"
        "policy:5: method: found 'mondrain'; allowed: auto, flexible-partition, "
        "least-loss-partition, mondrian. Did you mean 'mondrian'?\n"
        "policy:6: seed: found -1; must be 0 or more\n"
        f"policy:7: supression: unknown key; allowed: {KEYS}. "
        "Did you mean "
        "'suppression'?",
    ),
    (
        "columns:\n  age: quasi\n  zip: quasi\n  age: identifier\n" + K,
        "policy:2: columns.age: listed twice, in lines 2 and 4; a column has one role, so "
        "keep one of them",
    ),
    (
        "columns:\n  'zip code': {role: quasi, kind: x}\n" + K,
        "policy:2: columns.'zip code'.kind: found 'x'; allowed: ordered, unordered.",
    ),
]
