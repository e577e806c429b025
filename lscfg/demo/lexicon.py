"""The words: people, places, things and doings in classes that say what goes with what. See ``grammar`` for the notation."""

PEOPLE = """
person iwe:
3* 1s (||||yo) = i ; 2* 1p (||||nosotros) = we

person you:     # whom one asks; in Spanish it follows the verb, if it is said at all
3* us (|||usted) = you ; 2* 2s (||||tú) = you ; up (|ustedes) = you

person polite:
3* us (|||usted) = you ; up (|ustedes) = you

person family:
3m mi marido = my husband ; 3f mi mujer / mi esposa = my wife ; 3m mi hijo = my son ; 3f mi hija = my daughter
3m mi hermano = my brother ; 3f mi hermana = my sister ; 3m mi padre = my father ; 3f mi madre = my mother
3f mi abuela = my grandmother ; 3m mi abuelo = my grandfather ; 3f mi suegra = my mother-in-law
3f mi tía = my aunt ; 3m mi tío = my uncle ; 3f mi prima = my cousin ; 3m mi primo = my cousin
3f mi novia = my girlfriend ; 3m mi novio = my boyfriend
3pm mis padres = my parents ; 3pm mis hijos = my children / my kids ; 3pf mis hijas = my daughters
3pm mis abuelos = my grandparents ; 3pm mis suegros = my parents-in-law / my in-laws

person person:
<family
<family
3m mi amigo {boy} = my friend {boy} ; 3f mi amiga {girl} = my friend {girl} ; 2* 3m {boy} = {boy} ; 2* 3f {girl} = {girl}
3m el señor {surname} = mr. {surname} ; 3f la señora {surname} = mrs. {surname}
3pm mis amigos = my friends ; 3pm nuestros vecinos = our neighbours ; 3m un amigo = a friend
3m un compañero = a colleague ; 3f mi jefa = my boss ; 3m mi jefe = my boss ; 3m el guía = the guide

person someone:  # third persons, as subjects
<family
<family
2* 3m {boy} = {boy} ; 2* 3f {girl} = {girl} ; 2* 3m él = he ; 2* 3f ella = she ; 2* 3pm ellos = they ; 3pf ellas = they
3m el señor {surname} = mr. {surname} ; 3f la señora {surname} = mrs. {surname} ; 3pm mis amigos = my friends
3pm nuestros vecinos = our neighbours ; 3pm los turistas = the tourists ; 3pm los niños = the children

person who:  # any subject of a statement
12* 1s (|||||yo) = i ; 8* 1p (|||||nosotros) = we
<someone

person worker:
3m el camarero = the waiter ; 3f la camarera = the waitress ; 3m el recepcionista = the receptionist
3m el guía = the guide ; 3f la guía = the guide ; 3m el taxista = the taxi driver ; 3m el dueño = the owner
3m el conductor = the driver ; 3m el portero = the doorman / the porter ; 3f la enfermera = the nurse
3f la dependienta = the shop assistant / the sales assistant ; 3m el revisor = the ticket inspector
3m el farmacéutico = the pharmacist ; 3m el director = the manager ; 3m el cocinero = the cook

person kind:  # people whom a place or an organiser looks after
3m un guía = a guide ; 3m un intérprete = an interpreter ; 3m un médico = a doctor ; 3m un abogado = a lawyer
3m un mecánico = a mechanic ; 3f una enfermera = a nurse ; 3m un taxista = a taxi driver ; 3m un dentista = a dentist

noun job:
m profesor = teacher ; m médico = doctor ; m abogado = lawyer ; m ingeniero = engineer ; m enfermero = nurse
m cocinero = cook ; m arquitecto = architect ; m estudiante = student ; m periodista = journalist ; m dentista = dentist
m fotógrafo = photographer ; m músico = musician ; m camarero = waiter ; m electricista = electrician ; m piloto = pilot

noun jobf:
f profesora = teacher ; f médica = doctor ; f abogada = lawyer ; f ingeniera = engineer ; f enfermera = nurse
f cocinera = cook ; f arquitecta = architect ; f estudiante = student ; f periodista = journalist
f fotógrafa = photographer ; f actriz = actress ; f camarera = waitress ; f bailarina = dancer ; f traductora = translator

name girl:
maría ; carmen ; ana ; lucía ; laura ; elena ; marta ; sofía ; paula ; isabel ; rosa ; pilar ; cristina ; teresa ; beatriz
irene ; alicia ; silvia ; nuria ; raquel ; clara ; inés ; eva ; julia ; victoria ; rocío ; patricia ; mercedes ; blanca
lola ; amparo ; virginia ; noelia ; lorena ; esther ; sonia ; miriam ; olga ; ainhoa ; begoña ; fátima ; gloria ; susana

name boy:
antonio ; juan ; josé ; carlos ; luis ; pedro ; javier ; miguel ; david ; pablo ; alberto ; jorge ; manuel ; daniel
fernando ; rafael ; andrés ; sergio ; enrique ; ramón ; diego ; raúl ; álvaro ; tomás ; vicente ; ignacio ; óscar ; rubén
gonzalo ; marcos ; emilio ; jaime ; félix ; hugo ; mateo ; iván ; ricardo ; roberto ; guillermo ; salvador ; adrián

name surname:
garcía ; martínez ; lópez ; sánchez ; pérez ; gómez ; fernández ; rodríguez ; gonzález ; ruiz ; díaz ; moreno ; álvarez
muñoz ; romero ; alonso ; gutiérrez ; navarro ; torres ; domínguez ; vázquez ; ramos ; gil ; ramírez ; serrano ; molina
blanco ; suárez ; castro ; ortega ; delgado ; ortiz ; marín ; rubio ; medina ; iglesias ; cortés ; garrido ; castillo
santos ; guerrero ; lozano ; cano ; méndez ; cruz ; prieto ; flores ; herrera ; peña ; márquez ; cabrera ; campos ; vega
fuentes ; carrasco ; caballero ; nieto ; reyes ; aguilar ; pascual ; santana ; herrero ; lorenzo ; hidalgo ; montero
ibáñez ; ferrer ; durán ; vicente ; benítez ; mora ; arias ; vargas ; carmona ; crespo ; pastor ; soto ; sáez ; velasco
soler ; moya ; esteban ; parra ; bravo ; gallardo ; rojas ; pardo ; merino ; franco ; izquierdo ; lara ; rivas ; silva
smith ; miller ; brown ; wilson ; taylor ; johnson ; müller ; schmidt ; rossi ; dubois ; martin ; jones ; clark ; wright
"""

PLACES = """
name city:  # reached by train, bus or car
madrid ; barcelona ; sevilla = seville ; valencia ; granada ; toledo ; bilbao ; córdoba ; málaga ; salamanca ; zaragoza
segovia ; lisboa = lisbon ; cádiz ; santiago ; alicante ; san sebastián ; león ; burgos ; ávila ; murcia ; santander ; gijón
oporto = porto ; valladolid ; oviedo ; cuenca ; pamplona ; girona ; tarragona ; logroño ; mérida ; cáceres ; ronda
almería ; jaén ; huelva ; badajoz ; vigo ; la coruña ; lugo ; pontevedra ; orense ; vitoria ; huesca ; teruel ; soria
albacete ; ciudad real ; guadalajara ; zamora ; palencia ; castellón ; lérida ; marbella ; nerja ; sitges ; figueras
aranjuez ; el escorial ; chinchón ; sigüenza ; úbeda ; baeza ; jerez ; tarifa ; benidorm ; denia ; cartagena ; elche
trujillo ; plasencia ; astorga ; ponferrada ; santillana ; llanes ; avilés ; irún ; tudela ; jaca ; calatayud ; faro

name abroad:  # reached by plane
londres = london ; parís = paris ; roma = rome ; berlín = berlin ; nueva york = new york ; ámsterdam = amsterdam
lisboa = lisbon ; viena = vienna ; milán = milan ; múnich = munich ; bruselas = brussels ; buenos aires
ginebra = geneva ; dublín = dublin ; atenas = athens ; praga = prague ; méxico = mexico city ; moscú = moscow
estambul = istanbul ; copenhague = copenhagen ; estocolmo = stockholm ; varsovia = warsaw ; venecia = venice
florencia = florence ; fráncfort = frankfurt ; hamburgo = hamburg ; edimburgo = edinburgh ; marsella = marseille
turín = turin ; nápoles = naples ; zúrich = zurich ; el cairo = cairo ; tokio = tokyo ; pekín = beijing ; bogotá ; lima
la habana = havana ; chicago ; boston ; miami ; toronto ; montreal ; oslo ; helsinki ; budapest ; caracas ; quito
tánger = tangier ; marrakech ; casablanca ; túnez = tunis ; nueva delhi = new delhi ; sídney = sydney ; los ángeles

phrase anycity:
2* {city} ; {abroad}

name country:
inglaterra = england ; francia = france ; alemania = germany ; italia = italy ; estados unidos = the united states
portugal ; escocia = scotland ; irlanda = ireland ; suiza = switzerland ; holanda = holland ; bélgica = belgium
austria ; argentina ; méxico = mexico ; canadá = canada ; suecia = sweden ; japón = japan ; noruega = norway ; chile
grecia = greece ; polonia = poland ; brasil = brazil ; dinamarca = denmark ; colombia ; perú = peru ; marruecos = morocco
finlandia = finland ; turquía = turkey ; hungría = hungary ; australia ; china ; india ; egipto = egypt ; islandia = iceland

name street:
mayor ; serrano ; goya ; alcalá ; velázquez ; cervantes ; colón ; atocha ; toledo ; princesa ; bailén ; arenal ; hortaleza
fuencarral ; sagasta ; almagro ; lagasca ; quevedo ; lepanto ; mallorca ; aragón ; balmes ; muntaner ; urgel ; floridablanca
larios ; betis ; sierpes ; tetuán ; zaragoza ; jovellanos ; uría ; pelayo ; bravo ; embajadores ; segovia ; moratín ; huertas
zurbano ; orense ; narváez ; ibiza ; ayala ; lope de vega ; calderón ; góngora ; garcilaso ; espronceda ; bécquer ; galdós

noun road:  # where things happen and addresses are
4* f calle {street} = {street} street ; f avenida de {city} = {city} avenue


name hotelname:
central ; europa ; miramar ; victoria ; colón ; imperial ; alhambra ; continental ; bristol ; palace ; atlántico ; goya
ritz ; regina ; excelsior ; plaza ; reina cristina ; san marcos ; mediterráneo ; alfonso ; doña maría ; montesol ; avenida

noun shop:  # open and close, and are looked for
f farmacia = pharmacy / chemist 's ; m supermercado = supermarket ; f panadería = bakery ; f librería = bookshop / bookstore
m banco = bank ; f oficina de correos = post office ; f oficina de turismo = tourist office ; f lavandería = laundry
f tienda de recuerdos = souvenir shop ; f zapatería = shoe shop ; f peluquería = hairdresser 's ; f joyería = jewellery shop
m mercado = market ; f tienda de ropa = clothes shop / clothing store ; f floristería = flower shop ; m quiosco = newsstand
m centro ~comercial = shopping centre / shopping mall ; f casa de cambio = exchange office ; f pastelería = cake shop
f óptica = optician 's ; f gasolinera = petrol station / gas station ; f ferretería = hardware shop ; f frutería = fruit shop

noun sight:
m museo = museum ; f catedral = cathedral ; m castillo = castle ; m palacio ~real = royal palace
m acueducto = aqueduct ; f muralla = city wall ; f torre = tower ; m monasterio = monastery ; m teatro ~romano = roman theatre
m puente ~romano = roman bridge ; f mezquita = mosque ; f sinagoga = synagogue ; m jardín ~botánico = botanical garden
f iglesia = church ; m museo ~arqueológico = archaeological museum ; m museo de bellas artes = museum~ of fine arts
m acuario = aquarium ; m convento = convent ; f fortaleza = fortress ; m faro = lighthouse ; f basílica = basilica
f casa de cervantes = cervantes house ; m museo de la ciencia = science museum ; f plaza de toros = bullring

noun museum:  # sights with a door and a ticket office
m museo = museum ; f catedral = cathedral ; m castillo = castle ; m palacio ~real = royal palace ; f torre = tower
m jardín ~botánico = botanical garden ; m museo ~arqueológico = archaeological museum ; m acuario = aquarium
m museo de bellas artes = museum~ of fine arts ; m monasterio = monastery ; m zoo = zoo ; f exposición = exhibition
m museo de la ciencia = science museum ; f fortaleza = fortress ; f basílica = basilica

noun office:
f comisaría = police station ; m hospital = hospital ; m ayuntamiento = town hall ; f biblioteca = library
f embajada = embassy ; m consulado = consulate ; f universidad = university ; m estadio = stadium
f estación = station ; f estación de tren = train station / railway station ; f estación de autobuses = bus station
f parada de taxis = taxi stand / taxi rank ; f parada de autobús = bus stop ; f estación de metro = metro station
m aparcamiento = car park / parking lot ; m cajero ~automático = cash machine / atm ; m puerto = harbour / port
m parque = park ; m teatro = theatre ; m cine = cinema ; m aeropuerto = airport ; f playa = beach ; m centro = city centre
m hotel {hotelname} = {hotelname} hotel ; f piscina ~municipal = public swimming pool ; f plaza ~mayor = main square

noun place:
<shop
<sight
<office

noun near:  # of which there may be one round the corner
f farmacia = pharmacy / chemist 's ; m supermercado = supermarket ; f panadería = bakery ; f librería = bookshop / bookstore
m banco = bank ; f lavandería = laundry ; f zapatería = shoe shop ; f peluquería = hairdresser 's ; m quiosco = newsstand
f gasolinera = petrol station / gas station ; m hospital = hospital ; f parada de taxis = taxi stand / taxi rank
f parada de autobús = bus stop ; f estación de metro = metro station ; m aparcamiento = car park / parking lot
m cajero ~automático = cash machine / atm ; m parque = park ; m cine = cinema ; f piscina = swimming pool
m restaurante = restaurant ; f cafetería = café ; m bar = bar ; f heladería = ice cream parlour ; f pastelería = cake shop
m hotel = hotel ; f oficina de turismo = tourist office ; f óptica = optician 's ; m camping = campsite ; m taller = garage

noun leisure:  # where one goes to spend the day
f playa = beach ; m cine = cinema / movies ; m teatro = theatre ; m mercado = market ; m parque = park ; m zoo = zoo
f piscina = swimming pool / pool ; m museo = museum ; m concierto = concert ; f ópera = opera ; m estadio = stadium
m centro = city centre ; f discoteca = disco / nightclub ; m puerto = harbour / port ; f montaña = mountains ; f feria = fair

noun eatery:
m restaurante = restaurant ; m bar = bar ; f cafetería = café ; m restaurante {cuisine@eatery} = {cuisine} restaurant

phrase locate:
al lado de {el place} = next to {the place} ; enfrente de {el place} = opposite {the place} / across from {the place}
cerca de {el place} = near {the place} / close to {the place} ; detrás de {el place} = behind {the place}
delante de {el place} = in front of {the place} ; a la derecha de {el place} = to the right of {the place}
a la izquierda de {el place} = to the left of {the place} ; entre {el place} y {el place2} = between {the place} and {the place2}
en {el road} = on {road} ; en la esquina = on the corner / at the corner ; al final de la calle = at the end of the street
en la plaza de {city} = in {city} square ; al otro lado de la calle = on the other side of the street / across the street ; en el centro = in the city centre

phrase inside:
al fondo del pasillo = at the end of the corridor ; en la planta baja = on the ground floor
en el sótano = in the basement ; junto a la recepción = next to reception ; en el {nth} piso = on the {nth} floor
al lado del ascensor = next to the elevator / next to the lift ; en la {nthf} planta = on the {nthf} floor
a la derecha = on the right ; a la izquierda = on the left ; detrás de la recepción = behind reception

phrase nth:
primer = first ; segundo = second ; tercer = third ; cuarto = fourth ; quinto = fifth ; sexto = sixth ; séptimo = seventh

phrase nthf:
primera = first ; segunda = second ; tercera = third ; cuarta = fourth ; quinta = fifth ; sexta = sixth
"""

TIME = """
number few: 2..6
number small: 2..12
number guests: 2..8
number minutes: 5..55/5
number price: 5..95/5
number amount: 20..500/20
number roomno: 101..129
number roomnob: 201..229
number age: 3..19
number linenum: 2..60
number size: 36..46/2
number platform: 2..15
number degrees: 22..40/2
number century: 12..19

phrase room_number:
{roomno} ; {roomnob}

phrase hour:
dos = two ; tres = three ; cuatro = four ; cinco = five ; seis = six ; siete = seven ; ocho = eight ; nueve = nine
diez = ten ; once = eleven ; doce = twelve

phrase clock:  # the English preposition is "at"; the Spanish one is "a"
4* las {hour} = {hour} / {hour} o'clock ; 3* las {hour} y media = half past {hour}
2* las {hour} y cuarto = a quarter past {hour} ; 2* las {hour} menos cuarto = a quarter to {hour}
la una = one o'clock ; la una y media = half past one ; las {hour} y diez = ten past {hour}
las {hour} y veinte = twenty past {hour} ; las {hour} menos diez = ten to {hour} ; las {hour} menos veinte = twenty to {hour}

phrase early:
2* las {hearly} = {hearly} / {hearly} o'clock ; las {hearly} y media = half past {hearly}
las {hearly} de la mañana = {hearly} in the morning ; las {hearly} y cuarto = a quarter past {hearly}
las {hearly} menos cuarto = a quarter to {hearly}

phrase hearly:
seis = six ; siete = seven ; ocho = eight ; nueve = nine ; diez = ten

phrase evening:
2* las {hlate} = {hlate} / {hlate} o'clock ; las {hlate} y media = half past {hlate}
las {hlate} de la noche = {hlate} in the evening ; las {hlate} y cuarto = a quarter past {hlate}

phrase hlate:
ocho = eight ; nueve = nine ; diez = ten

phrase day:
lunes = monday ; martes = tuesday ; miércoles = wednesday ; jueves = thursday ; viernes = friday ; sábado = saturday
domingo = sunday

phrase days:
lunes = mondays ; martes = tuesdays ; miércoles = wednesdays ; jueves = thursdays ; domingos = sundays ; sábados = saturdays

phrase month:
enero = january ; febrero = february ; marzo = march ; abril = april ; mayo = may ; junio = june ; julio = july
agosto = august ; septiembre = september ; octubre = october ; noviembre = november ; diciembre = december

phrase season:
la primavera = spring ; el verano = summer ; el otoño = autumn ; el invierno = winter

phrase dayofmonth:
uno = first ; dos = second ; tres = third ; cinco = fifth ; siete = seventh ; ocho = eighth ; diez = tenth
doce = twelfth ; quince = fifteenth ; dieciocho = eighteenth ; veinte = twentieth ; veinticinco = twenty-fifth

phrase date:
el {dayofmonth} de {month} = the {dayofmonth} of {month} / {month} {dayofmonth}

phrase future:
4* mañana = tomorrow ; 2* esta tarde = this afternoon ; 2* esta noche = tonight ; 2* el {day} = on {day}
el próximo {day} = next {day} ; la semana que viene = next week ; la próxima semana = next week
pasado mañana = the day after tomorrow ; mañana por la mañana = tomorrow morning ; mañana por la tarde = tomorrow afternoon
mañana por la noche = tomorrow night / tomorrow evening ; el {day} por la tarde = on {day} afternoon
el {day} por la mañana = on {day} morning ; este fin de semana = this weekend ; {date} = on {date}

phrase past:
4* ayer = yesterday ; anteayer = the day before yesterday ; el {day} pasado = last {day} ; la semana pasada = last week
hace {few} días = {few} days ago ; ayer por la tarde = yesterday afternoon ; el fin de semana pasado = last weekend
ayer por la mañana = yesterday morning

phrase fornight:
2* para esta noche = for tonight ; para mañana = for tomorrow ; para el {day} = for {day} ; para este fin de semana = for this weekend
para el {day} por la noche = for {day} night ; para {date} = for {date} ; para mañana por la noche = for tomorrow night

phrase often:
todos los días = every day ; a menudo = often ; siempre = always ; casi siempre = almost always ; a veces = sometimes
"""

HOTEL = """
noun roomkind:
2* f habitación ~individual = single room ; 3* f habitación ~doble = double room ; f habitación ~triple = triple room
f habitación ~familiar = family room ; f suite = suite

noun room:
3* f habitación = room ; m cuarto = room

phrase roomwith:
con baño = with a bathroom / with a private bathroom ; con vistas al mar = with a sea view / with a view of the sea
con balcón = with a balcony ; con dos camas = with two beds / with twin beds ; con terraza = with a terrace
con cama de matrimonio = with a double bed ; con aire acondicionado = with air conditioning ; con ducha = with a shower
con vistas a la montaña = with a view of the mountains ; con desayuno incluido = with breakfast included
con calefacción = with heating ; que dé al patio = that looks onto the courtyard

adj roomadj:
tranquilo = quiet ; grande = large / big ; amplio = spacious ; barato = cheap ; soleado = sunny ; cómodo = comfortable
moderno = modern ; acogedor = cosy ; bonito = nice ; pequeño = small

adj roombad:  # ser
pequeño = small ; oscuro = dark ; ruidoso = noisy ; caro = expensive ; grande = big

adj clean:  # estar
limpio = clean ; sucio = dirty ; mojado = wet

noun device:
f calefacción = heating ; m aire ~acondicionado = air conditioning ; f televisión = television / tv ; f ducha = shower
m secador = hair dryer ; m teléfono = telephone / phone ; f nevera = fridge ; m ascensor = elevator / lift
f caja ~fuerte = safe ; m grifo = tap / faucet ; f cerradura = lock ; f lámpara = lamp ; m mando a distancia = remote control
f persiana = blind ; m ventilador = fan ; f lavadora = washing machine ; m microondas = microwave

noun faulty:
<device
m wifi = wifi ; f luz = light ; f llave = key ; m enchufe = socket / outlet ; m interruptor = light switch

noun bringitem:
f toalla = towel ; f manta = blanket ; f almohada = pillow ; f percha = coat hanger / hanger ; m adaptador = adapter
f plancha = iron ; m vaso = glass ; f botella de agua = bottle~ of water ; m despertador = alarm clock ; f silla = chair
f bombilla = light bulb ; f llave = key ; f lámpara = lamp ; m secador = hair dryer ; f cuna = cot / crib

noun lacking:
f agua caliente = hot water ; fp toallas = towels ; m jabón = soap ; m papel higiénico = toilet paper
fp perchas = coat hangers / hangers ; fp sábanas limpias = clean sheets ; fp mantas = blankets ; f luz = electricity

noun facility:
f piscina = swimming pool / pool ; m gimnasio = gym ; m restaurante = restaurant ; m bar = bar ; m ascensor = elevator / lift
m aparcamiento = car park / parking lot ; f terraza = terrace ; f sauna = sauna ; f caja ~fuerte = safe ; m jardín = garden

noun hotelpart:
f piscina = swimming pool / pool ; m gimnasio = gym ; m comedor = dining room ; m bar = bar ; f sauna = sauna
f sala de reuniones = meeting room ; f salida de emergencia = emergency exit ; m baño = bathroom
f máquina de hielo = ice machine ; fp escaleras = stairs ; f terraza = terrace

adj hoteladj:
barato = cheap ; céntrico = central ; tranquilo = quiet ; cómodo = comfortable ; limpio = clean ; moderno = modern

phrase overlook:
al mar = the sea ; a la calle = the street ; al patio = the courtyard ; al jardín = the garden ; a la plaza = the square
al parque = the park ; a la piscina = the pool

phrase noise:
el ruido = the noise ; el calor = the heat ; el frío = the cold ; los vecinos = the neighbours ; el tráfico = the traffic
los mosquitos = the mosquitoes

noun luggage:
f maleta = suitcase ; m equipaje = luggage / baggage ; f mochila = backpack ; f bolsa = bag

noun meal:
2* m desayuno = breakfast ; f cena = dinner ; f comida = lunch

phrase leftat:
2* aquí = here ; en recepción = at reception ; en la habitación = in the room ; en consigna = at the left luggage office

phrase until:
hasta {clock} = until {clock} ; hasta mañana = until tomorrow ; hasta el {day} = until {day} ; hasta esta tarde = until this afternoon

phrase toroom:
a la habitación = to the room ; al cuarto = to the room ; a la mesa = to the table ; a la terraza = to the terrace

phrase langhelp:
en {foreign} = in {foreign} ; otra vez = again ; más despacio = more slowly

phrase wakeday:
mañana = tomorrow ; el {day} = on {day} ; pasado mañana = the day after tomorrow

phrase floor:
el {nth} piso = the {nth} floor ; la {nthf} planta = the {nthf} floor

noun cleanable:
f habitación = room ; m baño = bathroom ; fp sábanas = sheets ; fp toallas = towels ; m suelo = floor ; f piscina = pool
f bañera = bathtub ; f playa = beach ; mp servicios = toilets ; f mesa = table ; mp vasos = glasses ; m cuarto = room
f ropa = laundry ; fp ventanas = windows

noun hotelopen:
2* f piscina = swimming pool / pool ; m gimnasio = gym ; m comedor = dining room ; m bar = bar ; m restaurante = restaurant ; f sauna = sauna

phrase fullfor:
esta semana = this week ; este fin de semana = this weekend ; hasta el {day} = until {day} ; en {month} = in {month}
hasta {month} = until {month} ; toda la semana = all week

noun hotelword:
m hotel = hotel ; f pensión = guesthouse ; m hostal = hostel ; m alojamiento = place to stay

phrase nightsdays:
noches = nights ; días = days ; semanas = weeks

phrase stayin:
en {city} = in {city} ; aquí = here ; en el hotel {hotelname} = at the {hotelname} hotel ; en casa de {person} = with {person}

phrase leftplace:
en la habitación = in the room ; en el taxi = in the taxi ; en el tren = on the train ; en el bar = in the bar / at the bar
en la playa = on the beach ; en casa = at home ; en el autobús = on the bus ; en la recepción = at reception ; en el coche = in the car
en el restaurante = at the restaurant ; en el museo = in the museum / at the museum ; en el banco = at the bank
en un banco del parque = on a bench in the park ; en la tienda = in the shop ; en el aeropuerto = at the airport

verb turnonoff:
encender / poner = turn on / switch on ; apagar / quitar = turn off / switch off

noun appliance:
m aire acondicionado = air conditioning ; f calefacción = heating ; f luz = light ; f televisión = television / tv
m ventilador = fan ; f radio = radio ; f música = music

noun flat:
m piso = flat / apartment ; m apartamento = apartment

adj flatadj:
pequeño = small ; grande = big ; nuevo = new ; céntrico = central ; moderno = modern ; luminoso = bright ; amueblado = furnished
"""

FOOD = """
adj cuisine:
italiano = italian ; chino = chinese ; japonés = japanese ; mexicano = mexican ; francés = french ; vegetariano = vegetarian
indio = indian ; griego = greek ; tailandés = thai ; argentino = argentinian ; turco = turkish

adj eatadj:
barato = cheap ; tranquilo = quiet ; típico = typical ; bueno = good ; bonito = nice

noun dish:
f paella = paella ; f tortilla de patatas = potato omelette / spanish omelette ; m pollo ~asado = roast chicken
m filete = steak ; f ensalada ~mixta = mixed salad ; f sopa de verduras = vegetable soup ; f sopa de pescado = fish soup
fp gambas al ajillo = garlic prawns / garlic shrimp ; mp calamares fritos = fried squid ; f merluza = hake
fp chuletas de cordero = lamb chops ; m bacalao = cod ; fp croquetas de jamón = ham croquettes ; m gazpacho = gazpacho
m salmón = salmon ; m pescado a la plancha = grilled fish ; f lasaña = lasagne ; m arroz con pollo = chicken~ with rice
f pizza de queso = cheese pizza ; fp albóndigas = meatballs ; f hamburguesa = hamburger ; f dorada al horno = baked bream
m cordero ~asado = roast lamb ; f sopa de ajo = garlic soup ; m pulpo a la gallega = galician-style octopus
m atún = tuna ; m conejo con tomate = rabbit~ with tomato

noun portion:  # countable, ordered with un
f ensalada = salad ; f sopa = soup ; m bocadillo de jamón = ham sandwich ; m bocadillo de queso = cheese sandwich
m filete = steak ; f tortilla ~francesa = plain omelette ; f hamburguesa = hamburger ; f pizza = pizza
m plato de pasta = plate~ of pasta ; f ración de queso = portion~ of cheese ; f ración de calamares = portion~ of squid
m sándwich = sandwich ; f tostada = slice~ of toast ; m cruasán = croissant ; m plato ~combinado = mixed plate

noun dessert:
m flan = crème caramel ; m helado de {flavour} = {flavour} ice cream ; f tarta de {flavour} = {flavour} cake
m arroz con leche = rice pudding ; f macedonia = fruit salad ; m yogur = yoghurt ; f crema ~catalana = catalan cream
f tarta de manzana = apple pie ; f tarta de queso = cheesecake

phrase flavour:
chocolate ; limón = lemon ; fresa = strawberry ; almendra = almond ; naranja = orange ; café = coffee ; coco = coconut

noun drink:
3* m café = coffee ; m té = tea ; m café con leche = coffee~ with milk ; m café ~solo = black coffee ; f cerveza = beer
m zumo de naranja = orange juice ; m zumo de tomate = tomato juice ; m vaso de agua = glass~ of water
m té con limón = tea~ with lemon ; f botella de vino tinto = bottle~ of red wine ; f copa de vino blanco = glass~ of white wine
f copa de vino tinto = glass~ of red wine ; f jarra de sangría = jug~ of sangria ; f botella de agua = bottle~ of water
m chocolate ~caliente = hot chocolate ; m refresco = soft drink ; m batido de {flavour} = {flavour} milkshake
m cortado = espresso~ with milk ; f limonada = lemonade

noun softly:  # what one has for a chat
3* m café = coffee ; 2* f cerveza = beer ; m té = tea ; f copa = drink ; m refresco = soft drink ; m helado = ice cream
f copa de vino = glass~ of wine ; m chocolate = hot chocolate

noun cutlery:
m tenedor = fork ; m cuchillo = knife ; f cuchara = spoon ; f servilleta = napkin ; m vaso = glass ; m plato = plate
f cucharilla = teaspoon ; f copa = wine glass

noun seasoning:
f sal = salt ; f pimienta = pepper ; m aceite = oil ; m azúcar = sugar ; m vinagre = vinegar ; m pan = bread ; f mayonesa = mayonnaise
f mantequilla = butter ; f leche = milk ; m hielo = ice ; m queso = cheese

phrase without:
sal = salt ; ajo = garlic ; cebolla = onion / onions ; azúcar = sugar ; leche = milk ; hielo = ice ; queso = cheese ; picante = chilli
gluten ; carne = meat ; huevo = egg ; nata = cream

phrase allergen:
los frutos secos = nuts ; el marisco = seafood / shellfish ; los cacahuetes = peanuts ; la leche = milk ; el gluten = gluten
los huevos = eggs ; el pescado = fish

noun badfood:
f sopa = soup ; m café = coffee ; f carne = meat ; m pescado = fish ; f comida = food ; f leche = milk ; m arroz = rice
fp patatas = potatoes ; f tortilla = omelette ; fp verduras = vegetables ; m pan = bread

adj foodbad:  # estar
frío = cold ; salado = salty ; quemado = burnt ; duro = hard

adj foodgood:  # estar
rico = delicious / very good / tasty ; bueno = good / delicious

phrase donelevel:
muy hecha = well done ; poco hecha = rare ; en su punto = medium / medium rare

noun produce:
f manzana = apple ; f naranja = orange ; m tomate = tomato ; m plátano = banana ; f pera = pear ; f patata = potato
m limón = lemon ; f cebolla = onion ; f fresa = strawberry ; m melocotón = peach ; f zanahoria = carrot ; f cereza = cherry
m pimiento = pepper ; f uva = grape ; f aceituna = olive

noun liked:  # gustar; nouns with the article in Spanish and without in English
f música ~clásica = classical music ; m vino = wine ; f comida ~española = spanish food ; m flamenco = flamenco
m fútbol = football / soccer ; m marisco = seafood ; m queso = cheese ; f cerveza = beer ; m té = tea ; m chocolate = chocolate
f música = music ; m arte ~moderno = modern art ; m pescado = fish ; m café = coffee ; m tenis = tennis ; m cine = cinema
fp playas = beaches ; mp museos = museums ; mp gatos = cats ; mp perros = dogs ; fp películas antiguas = old films / old movies
fp ciudades grandes = big cities ; mp helados = ice cream ; fp fiestas = parties ; fp montañas = mountains ; fp flores = flowers

noun favourite:  # gustar of a definite thing
f ciudad = city ; m hotel = hotel ; f comida = food ; f habitación = room ; f exposición = exhibition ; m barrio = neighbourhood
f playa = beach ; m concierto = concert ; m restaurante = restaurant ; fp vistas = views ; f catedral = cathedral
f película = film / movie ; m vino = wine ; mp postres = desserts ; mp jardines = gardens ; fp fotos = photos / pictures
"""

TRAVEL = """
noun ride:  # has a platform or a stop
3* m tren = train ; 2* m autobús / bus = bus

noun line:  # goes to a city
3* m tren = train ; 2* m autobús / bus = bus ; m ferry = ferry

noun vehicle:  # taken by passengers in town
m tren = train ; m autobús / bus = bus ; m metro = metro / underground / subway ; m taxi = taxi ; m tranvía = tram

noun missed:
m tren = train ; m autobús / bus = bus ; m avión = plane ; m vuelo = flight ; m ferry = ferry

noun hire:
m coche = car ; f bicicleta / bici = bike ; f moto = motorbike ; m barco = boat ; f furgoneta = van ; f sombrilla = sunshade
m casco = helmet

noun hired:
2* m coche = car ; f bicicleta / bici = bike ; f moto = motorbike ; f furgoneta = van

phrase fare:
de ida = one-way ; de ida y vuelta = return / round-trip ; sencillo = one-way ; de primera clase = first-class

phrase fares:
de ida = one-way ; de ida y vuelta = return / round-trip ; sencillos = one-way ; de segunda clase = second-class

noun seat:
m asiento de ventanilla = window seat ; m asiento de pasillo = aisle seat

noun carpart:
m motor = engine ; m freno = brake ; f batería = battery ; f rueda = wheel ; m faro = headlight ; m limpiaparabrisas = windscreen wiper
f puerta = door ; f ventanilla = window

phrase lateby:
{minutes} minutos = {minutes} minutes ; una hora = one hour / an hour ; media hora = half an hour ; {few} horas = {few} hours

phrase turn:
a la derecha = right ; a la izquierda = left

phrase side:
a la derecha = on the right ; a la izquierda = on the left

phrase byway:
en coche = by car ; en tren = by train ; en autobús = by bus ; en taxi = by taxi ; en avión = by plane ; en barco = by boat
en metro = by metro / by underground / by subway ; a pie / andando = on foot

phrase journey:
en coche = by car ; en tren = by train ; en autobús = by bus ; en avión = by plane

phrase intown:
en taxi = by taxi ; en autobús = by bus ; en metro = by metro / by subway ; a pie / andando = on foot
"""

SHOPPING = """
noun cloth:
f camisa = shirt ; f camiseta = t-shirt ; m vestido = dress ; f falda = skirt ; f chaqueta = jacket ; m abrigo = coat
m sombrero = hat ; m jersey = sweater / jumper ; mp pantalones = trousers / pants ; mp zapatos = shoes ; fp sandalias = sandals
fp botas = boots ; m cinturón = belt ; mp vaqueros = jeans ; f gorra = cap ; m bañador = swimsuit ; f blusa = blouse
m traje = suit ; mp guantes = gloves ; fp zapatillas = trainers / sneakers

noun gift:
m abanico = fan ; m collar = necklace ; m anillo = ring ; f pulsera = bracelet ; m libro = book ; m bolso = handbag
m reloj = watch ; f botella de aceite = bottle~ of oil ; f botella de vino = bottle~ of wine ; f caja de bombones = box~ of chocolates
m ramo de flores = bunch~ of flowers ; f muñeca = doll ; f camiseta = t-shirt ; f bufanda = scarf ; m cuadro = painting
fp gafas de sol = sunglasses ; mp pendientes = earrings ; f cesta = basket ; m jarrón = vase ; f guitarra = guitar

noun souvenir:
<gift
f postal = postcard ; m imán = fridge magnet ; m plato de cerámica = ceramic plate ; f guía de la ciudad = city guide

noun goods:  # bought in shops
m paraguas = umbrella ; f tarjeta de teléfono = phone card ; f guía de la ciudad = city guide ; m plano de la ciudad = city map
m periódico = newspaper ; f pila = battery ; m cepillo de dientes = toothbrush ; f crema ~solar = sun cream ; m mapa = map
m adaptador = adapter ; m mechero = lighter ; f linterna = torch / flashlight ; m diccionario = dictionary
m cargador = charger ; f revista = magazine ; m cuaderno = notebook ; f toalla de playa = beach towel ; f maleta = suitcase

noun lend:
m bolígrafo = pen ; m paraguas = umbrella ; m lápiz = pencil ; m diccionario = dictionary ; m mapa = map ; m cargador = charger
fp tijeras = scissors ; m secador = hair dryer ; m mechero = lighter ; f linterna = torch / flashlight

adj colour:
rojo = red ; azul = blue ; verde = green ; negro = black ; blanco = white ; gris = grey ; marrón = brown ; amarillo = yellow
azul claro = light blue ; rosa = pink ; azul oscuro = dark blue

phrase incolour:
rojo = red ; azul = blue ; verde = green ; negro = black ; blanco = white ; gris = grey ; marrón = brown ; amarillo = yellow
azul claro = light blue ; rosa = pink ; azul oscuro = dark blue ; otro color = another colour ; verde claro = light green

phrase material:
algodón = cotton ; cuero = leather ; seda = silk ; lana = wool ; lino = linen

adj fit:
grande = big ; pequeño = small ; estrecho = tight ; ancho = wide / loose ; corto = short ; largo = long

adj goodsadj:
barato = cheap ; bonito = pretty / nice ; grande = big ; pequeño = small ; moderno = modern ; sencillo = simple ; ligero = light

noun valuable:
f cartera = wallet ; m pasaporte = passport ; m bolso = handbag ; m móvil = mobile phone / cell phone ; f cámara = camera
fp llaves = keys ; f maleta = suitcase ; m reloj = watch ; m billete = ticket ; f mochila = backpack ; m paraguas = umbrella
fp gafas de sol = sunglasses ; f tarjeta de crédito = credit card ; m carné de conducir = driving licence / driver 's license
m ordenador ~portátil = laptop ; mp billetes de tren = train tickets

noun paper:
m pasaporte = passport ; m billete = ticket ; f tarjeta de embarque = boarding pass ; m carné de conducir = driving licence
f firma = signature ; f dirección = address ; m número de teléfono = phone number ; f reserva = booking / reservation

phrase currency:
dólares = dollars ; libras = pounds ; francos suizos = swiss francs ; yenes = yen

noun postal:
f carta = letter ; f postal = postcard ; m paquete = parcel / package ; m sobre = envelope
"""

HEALTH = """
noun bodypart:
3* f cabeza = head ; m estómago = stomach ; f espalda = back ; f garganta = throat ; m brazo = arm ; f pierna = leg ; m pie = foot
f rodilla = knee ; m tobillo = ankle ; m hombro = shoulder ; f mano = hand ; m cuello = neck ; f muñeca = wrist
m dedo = finger ; m oído = ear ; f barriga = tummy ; fp muelas = teeth ; mp oídos = ears ; mp pies = feet ; mp ojos = eyes
fp piernas = legs ; fp rodillas = knees ; m pecho = chest ; f lengua = tongue

noun broken:
m brazo = arm ; f pierna = leg ; m tobillo = ankle ; f muñeca = wrist ; m dedo = finger ; m pie = foot ; f nariz = nose

noun sprained:
m tobillo = ankle ; f muñeca = wrist ; f rodilla = knee

phrase ailment:
fiebre = a fever / a temperature ; tos = a cough ; un resfriado = a cold ; dolor de cabeza = a headache
dolor de estómago = a stomach ache ; gripe = the flu ; dolor de garganta = a sore throat ; una infección = an infection
una herida en {el broken} = a wound on {my broken} ; alergia al polen = a pollen allergy

phrase illness:
fiebre = a fever / a temperature ; tos = a cough ; un resfriado = a cold ; dolor de cabeza = a headache ; gripe = the flu
dolor de estómago = a stomach ache ; dolor de garganta = a sore throat ; dolor de muelas = toothache ; mucha fiebre = a high fever

phrase feeling:
hambre = hungry ; sed = thirsty ; frío = cold ; calor = hot ; sueño = sleepy ; miedo = afraid ; prisa = in a hurry ; razón = right

phrase bigfeeling:
hambre = hungry ; sed = thirsty ; frío = cold ; calor = hot ; sueño = sleepy ; miedo = scared

adj mood:  # estar
cansado = tired ; enfermo = ill / sick ; contento = happy ; resfriado = down with a cold ; perdido = lost ; mareado = dizzy
preocupado = worried ; listo = ready ; ocupado = busy ; enfadado = angry ; solo = alone ; aburrido = bored

noun pill:
f pastilla = pill / tablet ; f cucharada de jarabe = spoonful~ of syrup ; f aspirina = aspirin ; f cápsula = capsule

noun medicine:
f caja de aspirinas = box~ of aspirin ; m jarabe para la tos = cough syrup ; f crema para las quemaduras = cream~ for burns
fp tiritas = plasters / band-aids ; m termómetro = thermometer ; f venda = bandage ; m antiséptico = antiseptic
fp pastillas para la garganta = throat lozenges ; fp gotas para los ojos = eye drops ; m protector ~solar = sunscreen

phrase substance:
la penicilina = penicillin ; la aspirina = aspirin ; el polen = pollen ; los gatos = cats ; los antibióticos = antibiotics
las abejas = bees ; los perros = dogs

noun help:
f policía = police ; f ambulancia = ambulance ; m médico = doctor
"""

DOINGS = """
verb act:  # what tourists do
2* visitar {el sight} = visit {the sight} ; ver {el sight} = see {the sight} ; 2* ir {al leisure} = go to {the leisure}
dar un paseo {stroll} = take a walk {stroll} / go for a walk {stroll} ; tomar {un softly} = have {a softly}
tomar {un softly} con {person} = have {a softly} with {person} ; tomar el sol = sunbathe
comer en {un eatery} = have lunch at {a eatery} ; cenar en {un eatery} = have dinner at {a eatery}
comprar {un souvenir} = buy {a souvenir} ; sacar fotos de {el sight} = take pictures of {the sight} / take photos of {the sight}
alquilar {un hired} = rent {a hired} / hire {a hired} ; hacer una excursión a {city} = go on a trip to {city}
bañarse en {water} = swim in {water} ; montar en bicicleta = ride a bike ; ir de compras = go shopping
jugar {sport} = play {sport} ; ver un partido de fútbol = watch a football match / see a football match
aprender {skill} = learn {skill} ; mandar una postal a {family} = send a postcard to {family} / send {family} a postcard
visitar a {person} = visit {person} ; conocer a {person} = meet {person} ; probar {el dish} = try {the dish}
coger {el line} a {city} = take {the line} to {city} / catch {the line} to {city} ; descansar un rato = rest for a while
subir a la torre = go up the tower ; ir a {anycity} = go to {anycity} ; cambiar dinero = change some money
buscar {un flat} en el centro = look for {a flat} in the city centre ; tomar el autobús a {city} = take the bus to {city}
sacar dinero {del cash} = withdraw money from {the cash} / get money from {the cash} ; dormir en casa de {person} = sleep at {person} 's
escribir una carta a {person} = write a letter to {person} / write {person} a letter ; pasar el día en {city} = spend the day in {city}
llevar a los niños {al leisure} = take the children to {the leisure} ; llamar a {person} = call {person} / phone {person}
sentarse en un banco {stroll} = sit on a bench {stroll} ; abrir una cuenta en {el cash} = open an account at {the cash}
recoger {el luggage} en la estación = pick up {the luggage} at the station ; quedar con {person} = meet {person}
comprar un plano de {city} = buy a map of {city} ; pedir una pizza = order a pizza ; ver las estrellas = look at the stars

verb leisureact:  # likings
viajar = travel ; bailar = dance ; cocinar = cook ; leer = read ; nadar = swim ; pasear {stroll} = walk {stroll} ; tomar el sol = sunbathe
ir {al leisure} = go to {the leisure} ; sacar fotos = take photos / take pictures ; jugar {sport} = play {sport}
montar en bicicleta = ride a bike ; ir de compras = go shopping ; conducir de noche = drive at night ; viajar {journey} = travel {journey}
comer en restaurantes = eat in restaurants ; visitar museos = visit museums ; conocer gente nueva = meet new people
cenar tarde = have dinner late ; dormir la siesta = take a nap ; levantarse temprano = get up early ; cantar = sing
llevar sombrero = wear a hat ; tomar café = drink coffee ; esperar = wait ; hablar español = speak spanish

verb chore:  # what one has to do before or after something
cambiar dinero = change some money ; comprar un billete = buy a ticket ; hacer la maleta = pack the suitcase
llamar a {person} = call {person} / phone {person} ; pagar la cuenta = pay the bill ; desayunar = have breakfast
descansar un poco = rest a little ; sacar dinero = withdraw some money / get some money ; dejar la llave en recepción = leave the key at reception
reservar mesa = book a table ; ir al banco = go to the bank ; comer algo = eat something ; ducharse = have a shower
recoger {mi@who luggage} = pick up {my@who luggage} ; comprar el periódico = buy the newspaper ; coger un taxi = take a taxi
sacar las entradas = get the tickets / buy the tickets ; enviar un correo = send an email ; buscar un hotel = look for a hotel

noun cash:
2* m banco = bank ; m cajero = cash machine / atm

phrase stroll:
por el parque = in the park ; por la playa = along the beach ; por el casco antiguo = in the old town
por el centro = in the city centre ; por el paseo marítimo = along the promenade ; por el puerto = round the harbour
por el jardín botánico = in the botanical garden

phrase water:
el mar = the sea ; el río = the river ; el lago = the lake ; la piscina = the pool / the swimming pool

phrase sport:
al tenis = tennis ; al fútbol = football / soccer ; al golf = golf ; al baloncesto = basketball ; a las cartas = cards
al ajedrez = chess ; al voleibol = volleyball

phrase skill:
español = spanish ; a bailar flamenco = to dance flamenco ; a cocinar paella = to cook paella ; a nadar = to swim
a tocar la guitarra = to play the guitar ; a conducir = to drive

phrase language:
inglés = english ; francés = french ; alemán = german ; italiano = italian ; portugués = portuguese ; chino = chinese
japonés = japanese ; ruso = russian ; español = spanish

phrase foreign:
inglés = english ; francés = french ; alemán = german ; italiano = italian

phrase excuse:
llovía = it was raining ; {el museum} estaba cerrado@museum = {the museum} be.past@museum closed ; hacía frío = it was cold
no tener.impf@who tiempo = i@who did n't have time ; no tener.impf@who dinero = i@who did n't have any money
estar.impf@who {mood@who} = i@who be.past@who {mood} ; había demasiada gente = there were too many people
tener.impf@who {feeling} = i@who be.past@who {feeling}
"""

LEXICON = (PEOPLE, PLACES, TIME, HOTEL, FOOD, TRAVEL, SHOPPING, HEALTH, DOINGS)
