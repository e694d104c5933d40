"""First and family names for made-up people, from many lands and in several scripts.

Any likeness to real people is chance: the two are drawn on their own.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FEMALE = _words(
    "Mary Anna Linda Emma Olivia Sarah Grace Alice Chloë Zoë Amélie Inès Solvår Åsa Käthe "
    "Łucja Małgorzata Šárka Željka Ólöf Đurđa Élodie Noémie Núria Begoña Conceição Ainhoa "
    "Ayşe Gülşen Şebnem Ngọc Thảo Aisha Fatima Layla Amina Priya Ananya Lakshmi Mei Yuki Hana "
    "Ji-woo Eun-ji Siobhán Aoife Wanjirũ Adaeze Ngozi Tala Leilani Мария Ольга Софія Ελένη Μαρία "
    "שרה نور Rosa Lucía Ximena Guadalupe Keisha Imani"
)

MALE = _words(
    "James John Bill Sam Noah Liam Ethan Jack Henry Théo François Jérôme Søren Åke Björn Jürgen "
    "Łukasz Paweł Jiří Željko Ólafur Đorđe Zoltán Gergő João Nuno José Ángel Iñaki Mehmet Çağrı "
    "Özgür Quốc Đức Omar Yusuf Ali Ibrahim Arjun Rohan Ravi Wei Haruto Kenji Min-jun Seán Oisín "
    "Kamau Chidi Emeka Kofi Keanu Tane Иван Дмитро Γιώργος Νίκος דוד يوسف Luis Mateo Diego "
    "Andrés DeShawn Malik"
)

FAMILY = _words(
    "Smith Johnson Brown Garcia Miller Davis Martínez López Wilson Anderson Thomas Taylor Moore "
    "Nguyễn Trần Kim Park Lee Chen Wang Patel Singh Khan Sharma Rahman Fernando Tanaka Satō Suzuki "
    "O'Brien O'Neill MacDonald D'Angelo Müller Schröder Weiß Groß Lefèvre Béranger L'Hôte "
    "Kowalski Wójcik Dvořák Novák Horváth Szabó Ionescu Țurcanu Petrović Đukić Øverland Lindström "
    "Jónsdóttir Gonçalves Araújo Muñoz Peña Yılmaz Öztürk Hosseini Haddad al-Masri Cohen Levi "
    "Okafor Adeyemi Mensah Kamau Tesfaye Traoré Diallo Baptiste Joseph Kealoha Tuilagi Begay "
    "Иванов Шевченко Παπαδόπουλος Smith-Jones García-Márquez"
)
