para mí , la dorada al horno , por favor .
a mi hermana no le gusta conducir de noche .
mi hermano está herido .
el tren para sigüenza sale del andén nueve .
¿ podría darnos trescientos cuarenta euros en billetes de diez ?
mi tía se llama maría .
estudio bellas artes en córdoba .
mi hermana está grave .
perdone , quiero enviar esta carta a inglaterra , por favor .
los niños tienen hora con el dentista el miércoles a las seis menos cuarto .
ella ha pedido los espárragos .
¿ cómo prefiere la carne ?
dicen que mañana va a nevar .
¿ a qué hora empieza la visita guiada en italiano ?
ella está sentada en un banco en la plaza .
mi amigo ha cogido un resfriado .
la carne en su punto , por favor .
el banco cierra a la una y media .
buenas tardes , quisiera ingresar ochenta euros en mi cuenta .
el hotel colón no está lejos de aquí .
