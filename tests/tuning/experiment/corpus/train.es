perdone , ¿ saben dónde está el centro comercial ?
¿ a qué hora tenemos que dejar la habitación ?
cruce la plaza y siga recto hasta el centro comercial .
¿ a cuánto están los plátanos ?
la cena se sirve desde las nueve y cuarto .
a mi hijo no le gusta sacar fotos .
cruce la avenida y siga recto hasta el ayuntamiento .
blanca se rompió la muñeca la semana pasada .
ya no quedan cerezas .
me falta un vaso .
mi maleta no ha llegado aún .
perdone , ¿ puede subírnoslas a la habitación ?
mi número de habitación es el doscientos veintitrés .
virginia va a dormir en un hostal mañana por la noche .
prefiero un cuarto que dé al jardín .
¿ puedo probarme estas botas ?
¿ tienes una herida en el pie ?
nos alojamos en el hotel colón .
la estación favorita de mi hermano es el verano .
¿ podemos dejar nuestra maleta aquí ?
¿ quiere tomar una copa ahora ?
en mérida nunca nieva .
él es bastante simpático .
me duele el pie desde esta mañana .
si no nos damos prisa , vamos a perder el ferry .
nos gusta ir a la feria .
buenas tardes , ¿ les quedan habitaciones libres ?
¡ qué buena está la comida !
¿ dónde puedo cargar el móvil ?
mis abuelos perdieron el bus por culpa de mi marido .
oiga , ¿ cuánto cuesta alquilar una sombrilla al día ?
mi madre lleva seis años trabajando en una biblioteca .
llévese el paraguas porque va a llover .
el atún estaba muy bueno .
tiene que tomar seis cucharadas de jarabe al día .
oiga , ¿ cuántas cápsulas tengo que tomar al día ?
nuestro piso está en la quinta planta .
disculpe , ¿ tienen algo para la fiebre ?
esta ciruela todavía está verde .
la librería está abierta hasta las ocho y media .
¿ está libre este asiento ?
a mi marido le han robado la cartera .
¿ por qué está tan ocupado ?
parece que este fin de semana va a nevar .
¿ este autobús va al ayuntamiento ?
a mi madre le han robado los billetes de tren .
queremos alquilar una moto para una semana .
no queda sal en la cocina .
querría cambiar de cuarto .
a mi hija le gusta conducir de noche .
hemos quedado con mis suegros a las cinco y diez .
¿ por qué no hay luz ?
antes de coger el tren a zaragoza , tenemos que recoger nuestras mochilas .
él llegó tarde al concierto .
¡ llame a una ambulancia !
el bar está en la planta baja .
buenos días , querría un billete a sevilla para mañana .
me han robado el reloj en la calle toledo .
nuestra jefa es ingeniera .
buenos días , ¿ qué tiempo va a hacer mañana en hamburgo ?
¿ quién construyó la fortaleza ?
mis suegros volvieron de londres ayer por la mañana .
túmbese en la camilla , por favor .
de primero el pulpo a la gallega y de segundo el atún .
el domingo va a nevar en córdoba .
¿ tienen un plano de la ciudad ?
¿ me puede traer el menú del día ?
¿ es esta la calle sagasta ?
esta falda me queda demasiado larga .
él pidió ayuda al farmacéutico .
¿ tienen esta blusa en rosa ?
mis padres llevan una maleta muy pesada .
perdone , ¿ puede traerme la cuenta ?
mi número de habitación es el ciento dieciséis .
la mezquita está en dirección contraria .
disculpe , ¿ nos puede decir dónde está el acueducto ?
¿ cuánto se tarda del escorial a palencia en autobús ?
solo tengo un billete de quinientos euros .
el bacalao estaba muy rico .
¿ dónde se encuentra la torre ?
la entrada a la fortaleza es gratis los domingos .
la catedral cierra a las siete de la tarde .
él no se siente bien desde esta mañana .
el museo de bellas artes de oporto es muy bonito .
a mi tía no le gusta el flamenco .
desearía cuatro sellos para alemania .
hola , ¿ cuál es la contraseña del wifi ?
¿ qué tiempo hace en chinchón ?
me quedo hasta el sábado .
quiero tres entradas para el museo .
¡ qué bueno está el yogur !
nuestros vecinos tienen miedo .
no hay luz en mi habitación .
hola , ¿ cuál es la dirección de la escuela de idiomas ?
hemos comprado un anillo . se lo vamos a dar a mi madre .
este melocotón todavía está verde .
ha llegado una carta para mi suegra .
¿ por qué está tan aburrido ?
nuestros vecinos no pudieron subir a la torre porque estaban ocupados .
¿ qué tiempo hará mañana en córdoba ?
mis padres querían comer fuera pero hacía demasiado frío .
mi padre alquiló una furgoneta para ir a calatayud .
llevaré a mi tío a la montaña el domingo .
¿ por qué no abrimos una cuenta en el banco mañana ?
¿ nos lo puede subir a la habitación ?
el palacio real está abierto hasta las siete y cuarto .
ella se siente peor que ayer .
hola , ¿ hay un bar en el hotel ?
quisiera comprar un imán para mi esposa , por favor .
hace mal tiempo para bañarnos en la piscina .
si mañana hace buen tiempo , voy a ir a la playa .
oiga , querría un asiento de ventanilla .
a mi marido le gustó mucho el restaurante .
mi hijo dejó la habitación sin pagar la cuenta .
la entrada a la torre es gratis los lunes .
el miércoles por la mañana mi primo va a sacar fotos del monasterio .
¿ tienes tos ?
la próxima estación es bilbao .
mi madre vive en un apartamento pequeño con dos dormitorios .
si no nos damos prisa , vamos a perder el autobús .
he comprado un anillo . se lo voy a regalar a la señora fernández .
él estudia química en budapest .
mi marido va a descansar un rato mañana .
la tienda de ropa cierra a las siete y media .
¿ cuánto vale esta caja de bombones ?
la universidad no está lejos de aquí .
mi hijo vive en la calle mayor .
¿ cómo se siente hoy ?
a mi marido no le gusta jugar al ajedrez .
mi nombre es jorge crespo .
llévese el paraguas porque va a llover .
mi cumpleaños es el quince de octubre .
buenas tardes , ¿ está muy lejos la parada de taxis ?
cuando mis padres llegaron a la estación , el tren ya había salido .
me gustaría reservar una suite con aire acondicionado .
este abrigo me queda demasiado largo .
mi mujer se siente mucho mejor .
los turistas llevan una camiseta marrón .
desearía seis entradas para la corrida de toros , por favor .
mi tía dejó la llave en recepción antes de salir para la coruña .
me he quedado sin gasolina .
¿ a qué hora es el desayuno ?
mi cumpleaños es el quince de septiembre .
cruce el río y gire a la derecha .
el banco cierra a las tres menos cuarto .
ayer por la noche pedí una pizza .
buenos días , ¿ tiene una mesa libre para dos ?
¿ dónde puedo encontrar un cuaderno por aquí ?
mi hermano se llama diego .
¿ a qué hora acaba la excursión ?
¿ me hace un descuento ?
¿ conoce a un abogado que hable alemán ?
el tren para barcelona sale del andén siete .
ponga sesenta euros de gasolina .
¿ cuánto vale este paraguas ?
¿ dónde tengo que bajar para ir a la iglesia ?
¿ podría quitar la calefacción ?
quisiera reservar una habitación individual para mañana por la noche .
¿ puedo dejar mis maletas en la habitación hasta las tres ?
no hay toallas en nuestra habitación .
me he dejado las llaves dentro del coche .
¿ cuándo salen para moscú ?
a mi abuela le gusta mucho el tenis .
buenas tardes , ¿ hay una piscina por aquí cerca ?
faltan tres servilletas .
¿ a qué hora llega el tren de lisboa ?
mi hijo ha perdido su billete en la calle mayor .
yo no pedí este cruasán .
buenos días , ¿ conoce un restaurante argentino en el centro ?
¿ puede traerme la cuenta , por favor ?
¿ son estas sus bolsas ?
cruce la plaza mayor y siga recto hasta el monasterio .
la bañera está mojada .
¿ podría enviármelo al hotel ?
son las nueve y veinticinco .
no queda leche en la cocina .
¿ dónde están los probadores ?
mi hermana habla ruso y un poco de italiano .
hoy es lunes , ocho de mayo .
hay un incendio en el bosque .
¡ al ladrón !
no tengo tiempo para quedar con mi primo .
mi abuela está sentada en un banco en la plaza .
buenos días , ¿ qué significa esta palabra ?
¿ tiene algo que declarar ?
mis abuelos son alérgicos al gluten .
¿ tengo que cambiar de tren en avilés ?
¿ a qué hora es la cena ?
¿ dónde se encuentra la parada de autobús ?
mi madre ha olvidado su móvil en el aeropuerto .
faltan cuatro vasos .
mi novio buscó un apartamento en el centro ayer por la mañana .
¿ qué me recomienda ver en córdoba ?
esta manzana todavía está verde .
los turistas están bastante preocupados .
quiero abrir una cuenta .
¿ a qué hora sale el vuelo para dublín ?
mi abuelo lleva tres días enfermo .
mi hijo prefiere viajar en tren .
me gustan estos periódicos . me los llevo .
firme aquí , por favor .
la floristería cierra a las seis de la tarde .
nosotros vamos a quedarnos tres noches en casa de mis hijas .
mi mujer volvió de parís el miércoles pasado .
mi padre se cayó en la playa .
ana no ha podido dormir por el tráfico .
túmbese aquí , por favor .
nosotros compramos dos kilos de naranjas en el mercado .
mi tía no pudo subir a la torre porque llovía .
¿ a qué hora sale el último tren para barcelona ?
mi madre tiene que ir al banco a sacar dinero .
ha habido un accidente en la avenida de santiago .
¿ tiene algo más barato ?
hola , ¿ puede escribirlo , por favor ?
estamos bastante enfadados .
¿ te gustan las flores ?
buenos días , ¿ puede darme cuarenta euros en billetes de veinte , por favor ?
disculpe , ¿ cuánto dura la boda ?
mis amigos están sentados en un banco junto al río .
mi primo descansó en un banco en el jardín .
queremos una tostada y un chocolate caliente , por favor .
el cumpleaños de mi abuelo es el diez de enero .
el vuelo de ginebra aterriza a las ocho menos cuarto .
pedro no se siente bien desde hace seis días .
los vecinos del tercer piso hacen mucho ruido .
mi amiga se siente mejor .
mi prima lleva unos zapatos rojos .
¿ conoce a mi primo ?
hemos sacado los billetes para valencia .
a mis suegros no les gusta el vino .
buenas tardes , ¿ qué significa esta palabra ?
el palacio real está en dirección contraria .
no nos dimos cuenta de que la catedral estaba cerrada .
¿ dónde está el servicio ?
mi novio se levanta tarde los martes .
oiga , ¿ tienen habitaciones libres ?
le regalé un libro a mi padre .
perdone , ¿ me puede pasar el azúcar , por favor ?
la cena se sirve desde las nueve .
llego el próximo sábado a las once menos veinte .
¿ cuál es su dirección de correo ?
disculpe , ¿ dónde está la caja ?
¿ qué línea de metro va a la catedral ?
desearíamos tres kilos de melocotones .
perdone , ¿ tienen habitaciones libres para mañana ?
el lunes por la noche pedí una pizza .
buscamos un intérprete que hable español .
la visita del acuario empieza a las seis menos cuarto .
cruce el parque y doble a la derecha .
hola , ¿ dónde están los servicios ?
ya no quedan patatas .
¿ este autobús va al museo de bellas artes ?
a mi tía no le gusta el té .
mi esposa tiene un resfriado desde ayer .
mi abuela dejó la habitación sin pagar la cuenta .
me gusta mucho el queso .
dígale a mi hermana que llego a las doce .
¿ a qué hora sirven el desayuno ?
¿ a qué hora llega el tren de chinchón ?
los faros del coche no funcionan .
nuestro hijo es músico .
todavía no hemos visitado la torre .
la parada de taxis está en dirección contraria .
hay un error en la cuenta .
quedamos en la embajada a las cuatro .
¿ a qué hora sale el tren para barcelona ?
buenas tardes , ¿ tiene algo para las picaduras de mosquito ?
¿ te gustan las fiestas ?
el fin de semana pasado mi esposa recogió las mochilas en la estación .
¿ cómo se va al supermercado ?
a mi novia le gusta el arte moderno .
para mi esposa , el gazpacho .
ellas llevan unas botas rosa .
nosotros nos alojamos en el hotel colón .
a mis hijos les gusta mucho el flamenco .
¿ por qué no hay perchas ?
después de dar un paseo por el casco antiguo , recogí mis maletas .
¿ cómo se llama su hija ?
mi esposa es de estados unidos .
el banco de la plaza está ocupado .
vamos a quedarnos cinco noches .
¿ a qué hora sale el vuelo para estocolmo ?
mi prima va al consulado en metro todos los días .
mi vuelo a londres ha sido cancelado .
oiga , nos gustaría cambiar este adaptador .
él perdió su cartera ayer .
la línea cincuenta y uno va a la mezquita .
hola , ¿ cuánto cuesta mandar un paquete a estados unidos ?
¿ a qué hora llegamos a ávila ?
mi hija está inconsciente .
queremos comprar un ramo de flores para guillermo .
mis abuelos visitaron la iglesia la semana pasada .
me he torcido la rodilla .
para ir al palacio real , tome el tranvía .
mis amigos todavía no han encontrado un apartamento .
escribí un correo a mi primo .
¿ cuánto dura la reunión ?
mi padre estudia historia en salamanca .
yo me puse los vaqueros grises .
¿ qué quiere beber ?
mis padres han perdido su mochila .
¿ quiere visitar el convento ?
si tenemos tiempo , vamos a visitar el acueducto .
hola , ¿ dónde queda el mercado ?
merece la pena ver el faro .
¿ cómo se dice esto en ruso ?
¿ cómo se llama usted ?
¿ cuál es la contraseña del wifi ?
buenas tardes , ¿ se puede ir al estadio a pie ?
ya se lo he dicho a mi tío .
queríamos enviar este paquete a japón .
¿ puede darme doscientos ochenta euros en billetes de veinte , por favor ?
el cajero se ha tragado mi tarjeta .
el servicio en este bar es muy malo .
estoy buscando a mis hijas .
hay una heladería en la plaza de valencia .
perdone , ¿ cómo se va al ayuntamiento ?
sentimos llegar tarde .
¿ a qué hora abre el bar ?
disculpe , ¿ me puede enseñar la oficina de turismo en el plano ?
perdone , ¿ cuánto cuesta este plato de cerámica ?
que se mejore pronto .
la señora lópez va a casarse en febrero .
nuestros vecinos pidieron la cuenta hace diez minutos .
para mí , el pulpo a la gallega , por favor .
yo tomaré las lentejas .
¿ podría hablar más despacio ?
de primero los espárragos y de segundo el salmón .
el banco de la plaza está sucio .
mi novia vive en la cuarta planta .
¿ ha encontrado alguien unas llaves ?
el acueducto no está lejos de aquí .
esta manzana todavía está verde .
mi cuarto da al parque .
a mi novia no le gusta conocer gente nueva .
¿ tienes fiebre ?
él prefiere viajar en coche .
querría una ensalada y un café , por favor .
quiero un plano de plasencia .
la entrada al museo arqueológico es gratis los lunes .
a mi abuela le encanta cocinar .
desearía una mesa para tres .
¿ puede traérmelos ?
llévenos a la calle bailén , número diecisiete .
¿ a cuánto está el dólar ?
mis hijas perdieron su paraguas anteayer .
¿ por qué estás tan ocupado ?
oiga , queremos un bocadillo de queso , por favor .
el cumpleaños de mi abuelo es el veinte de julio .
disculpe , ¿ es de lana esta camisa ?
tengo una reserva a nombre de cano .
necesitamos una enfermera enseguida .
se lo di a mi suegra ayer .
maría coge el metro todos los días .
buenos días , deme medio kilo de uvas .
hay un banco a la sombra .
mis abuelos no pueden comer carne .
quiero montar en bicicleta el veinticinco de mayo .
lléveme a la calle espronceda , número treinta y dos .
mi nieto tiene tres años .
hoy es sábado , quince de mayo .
el mercado de figueras es muy moderno .
mi madre saca al perro todas las noches .
vivimos en la calle mayor .
ellos están mareados .
cruce la avenida y siga recto hasta la plaza de toros .
para beber , un café .
el tren de sevilla llega dos horas tarde .
disculpe , ¿ a qué se dedica ?
ya se lo he dicho a mi esposa .
él recibió una carta de mi prima .
la oficina de turismo no está lejos de aquí .
soy de madrid .
¿ es de lino este abrigo ?
saque la lengua , por favor .
oiga , ¿ cuántas aspirinas tengo que tomar al día ?
buenos días , ¿ cuánto tiempo dura la obra de teatro ?
a mis padres les gusta el queso .
desearía seis billetes de ida y vuelta para barcelona .
he dejado mi billete en el museo .
esta chaqueta me queda demasiado grande .
disculpe , ¿ tienen un cuarto más tranquilo ?
mi novia coge el tren todos los días .
mi abuela lleva cinco días enferma .
la ducha de nuestra habitación está estropeada .
¿ está incluido el desayuno en el precio ?
¿ está incluido el servicio en el precio ?
este traje le queda muy bien .
¿ me puede traer un poco de sal ?
nos gustó mucho la película .
¿ qué tiempo hace en valencia ?
¿ cómo prefiere el solomillo ?
¿ puedo dejar mis maletas en recepción ?
antes de dejar el hotel , tengo que sacar las entradas .
faltan seis vasos .
es la primera vez que venimos a copenhague .
pedro tiene alergia al polen desde el domingo .
¿ puede enseñarme su pasaporte ?
perdone , ¿ cómo se llama usted ?
¿ qué lleva la sopa de ajo ?
