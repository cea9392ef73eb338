"""A small harbour ordinance, written for the tests."""

LAW = """\
Harbour Act

§ 10-1 Definitions. For the purposes of this chapter, the following terms have these meanings:
"Mooring fee" means the sum that a boat owner pays for the use of a berth.
"Berth" means a marked place at a quay where one boat may lie.
"Harbour master" means the officer whom the port authority appoints to run the harbour.

§ 10-2 Duties of owners. A boat owner must pay the mooring fee within 10 business days of arrival. \
The fee is $1,500 for each season and is paid to the harbour master. A boat owner must publish the \
results of a hull inspection on a website before the boat is moored.

§ 10-3 Exceptions. A boat shorter than 4 metres is exempt from the mooring fee. The exemption does \
not apply between December 23, 2022 and January 31, 2023.
"""

RULE = """\
Harbour Rules

§ 5-100 Hull inspection. A hull inspection is a check of the hull by an independent surveyor. It \
must include:
1. a calculation of the rate of corrosion;
2. a photograph of the keel; and
3. a statement that the hull is sound.

§ 5-200 Penalties. An owner who moors without a hull inspection is liable for a civil penalty of \
not more than $500 for a first violation under § 10-2(b)(1), and of up to 2% of the value of the \
boat for each later violation.

§ 5-300 Notice. The harbour master must give notice of a new fee at least 30 days before it takes \
effect. Notice is given by post or on the harbour's website.
"""

QUESTION = "When must the owner pay the mooring fee?"
"""It is answered by § 10-2."""
