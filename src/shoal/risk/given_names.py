"""Common given names of European languages, in plain lower-case letters.

Enough to tell a column of names from one of places or products, not to recognise every name. Names that
are also common words or places of these languages (`may`, `will`, `florence`) are left out.
"""

from shoal.encoding.vocabulary import word_set

ENGLISH = word_set(
    """
    james john robert michael william david richard joseph thomas charles christopher daniel
    matthew anthony steven andrew kenneth joshua kevin brian george edward ronald timothy jason
    jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin
    samuel gregory patrick alexander jack dennis jerry tyler aaron jose nathan henry zachary
    douglas peter adam noah liam oliver harry alfie oscar archie leo arthur freddie theodore ethan
    lucas mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy
    betty sandra margaret ashley kimberly emily donna michelle carol amanda melissa deborah
    stephanie rebecca sharon laura cynthia dorothy amy kathleen angela shirley brenda emma anna
    pamela nicole samantha katherine christine helen debra rachel carolyn janet maria catherine
    heather diane olivia julie joyce ruth lauren kelly christina joan evelyn judith megan hannah
    cheryl jacqueline martha sophie sophia amelia isla ava mia isabella poppy
    """
)
GERMAN_DUTCH = word_set(
    """
    hans klaus jurgen gunter gunther wolfgang dieter uwe bernd stefan stephan andreas matthias
    markus tobias florian sebastian lukas jonas felix maximilian moritz niklas jan lars sven ralf
    horst heinz karl kurt walter werner gerhard manfred helmut frank joachim rainer ulrich holger
    ursula monika petra sabine renate helga karin brigitte ingrid erika christa gisela susanne
    claudia birgit heike martina angelika ute silke katrin kathrin anja stefanie julia katharina
    lena leonie johanna greta frieda heidi annette elke gabriele johannes pieter cornelis hendrik
    willem gerrit jeroen bram daan sem thijs joost ruben maarten wouter sander anouk femke marieke
    sanne lotte fleur ilse saskia annemarie wilhelmina
    """
)
FRENCH = word_set(
    """
    jean pierre michel andre philippe alain jacques bernard marcel daniel roger robert paul claude
    henri rene louis gerard nicolas christophe laurent frederic sebastien stephane olivier julien
    guillaume thierry francois antoine mathieu thibault hugo lucas theo nathan enzo marie jeanne
    francoise monique catherine nathalie isabelle jacqueline anne sylvie martine madeleine nicole
    suzanne helene christine marguerite denise louise valerie sophie sandrine celine camille lea
    manon chloe ines juliette aurelie emilie elodie
    """
)
SPANISH_PORTUGUESE = word_set(
    """
    antonio manuel jose francisco juan javier carlos jesus alejandro miguel rafael pedro angel
    pablo sergio fernando luis jorge alberto alvaro diego adrian raul enrique ramon vicente ivan
    ruben carmen josefa isabel dolores pilar teresa ana francisca antonia lucia elena concepcion
    rosa raquel manuela rosario beatriz nuria silvia irene marta paula ines joao paulo tiago rui
    nuno bruno goncalo duarte vasco afonso catarina mariana rita fernanda margarida leonor matilde
    susana
    """
)
ITALIAN = word_set(
    """
    giuseppe giovanni mario luigi salvatore vincenzo domenico pietro paolo francesco angelo
    giorgio stefano marco alessandro andrea matteo lorenzo davide simone riccardo tommaso giulia
    giovanna rosa angela giuseppina lucia caterina francesca chiara federica valentina alessandra
    elisabetta silvia alice paola roberta
    """
)
POLISH = word_set(
    """
    piotr krzysztof andrzej tomasz pawel jan michal marcin jakub stanislaw jerzy marek grzegorz
    jozef lukasz zbigniew wojciech henryk kazimierz mateusz ryszard marian katarzyna malgorzata
    agnieszka krystyna barbara ewa elzbieta zofia teresa joanna magdalena jadwiga danuta irena
    halina helena beata aleksandra marta dorota zuzanna
    """
)
NORDIC = word_set(
    """
    lars erik anders johan nils karl per magnus bjorn ole kjell arne olav svein knut morten henrik
    rasmus soren jens niels mads christian emil oskar axel gustav hakan ulf lennart bengt bertil
    ingrid kari anne astrid birgitta kristina margareta elisabet inger solveig liv marit berit ida
    freja maja elsa linnea ebba alma karin kirsten hanne mette lone pia juhani matti timo mikko
    antti jukka pekka heikki ville janne aino helena tuula anneli kaarina sinikka maija riitta
    leena paivi
    """
)

GIVEN_NAMES = ENGLISH | GERMAN_DUTCH | FRENCH | SPANISH_PORTUGUESE | ITALIAN | POLISH | NORDIC
