"""A user's script with ten mistakes, each on a line that ends in `# mistake`."""

import pandas as pd

import shoal

people = pd.DataFrame({"age": [31, 36, 35, 61], "disease": ["flu", "flu", "asthma", "flu"]})

shoal.anonymize(people, quasy="age", k=2)  # mistake
shoal.anonymize(people, quasi="age", k="five")  # mistake
shoal.anonymize(people, quasi="age", k=2, method="mondrain")  # mistake
shoal.no_such_name(people)  # mistake
shoal.anonymize(people, quasi="age", constraints=[5])  # mistake
shoal.anonymize(people, quasi="age", k=2).tabel  # mistake
shoal.run("in.csv", "p.yaml")  # mistake
shoal.verify("out.csv", "p.yaml").found  # mistake
shoal.anonymize(people, "p.yaml", suppressed="hidden")  # mistake
shoal.anonymize(people, "p.yaml", progress=lambda step, share: None)  # mistake
