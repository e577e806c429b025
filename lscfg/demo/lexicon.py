"""The words: people, places, things and doings, in classes that say what goes with what (see ``grammar``)."""

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
3f mi abuela = my grandmother ; 3m mi abuelo = my grandfather ; 3f mi suegra = my mother-in-law ; 3f mi tía = my aunt
3m mi tío = my uncle ; 3f mi prima = my cousin ; 3m mi primo = my cousin ; 3f mi novia = my girlfriend
3m mi novio = my boyfriend ; 3pm mis padres = my parents ; 3pm mis hijos = my children / my kids
3pf mis hijas = my daughters ; 3pm mis abuelos = my grandparents ; 3pm mis suegros = my parents-in-law / my in-laws

person person:
<family
<family
3m mi amigo {boy} = my friend {boy} ; 3f mi amiga {girl} = my friend {girl} ; 2* 3m {boy} = {boy}
2* 3f {girl} = {girl} ; 3m el señor {surname} = mr. {surname} ; 3f la señora {surname} = mrs. {surname}
3pm mis amigos = my friends ; 3pm nuestros vecinos = our neighbours ; 3f mi jefa = my boss ; 3m mi jefe = my boss

person callee:
<family
4* 3m el señor {surname} = mr. {surname} ; 4* 3f la señora {surname} = mrs. {surname} ; 3* 3m el director = the manager
4* 3m el doctor {surname} = doctor {surname} ; 4* 3m {boy} = {boy} ; 4* 3f {girl} = {girl}

person stranger:  # someone to get to know
2* 3m {boy} = {boy} ; 2* 3f {girl} = {girl} ; 3m el señor {surname} = mr. {surname}
3f la señora {surname} = mrs. {surname} ; 3pm nuestros vecinos = our neighbours ; 3f mi jefa = my boss
3m mi jefe = my boss ; 3m el director = the manager

person someone:  # third persons, as subjects
<family
<family
2* 3m {boy} = {boy} ; 2* 3f {girl} = {girl} ; 2* 3m él = he ; 2* 3f ella = she ; 2* 3pm ellos = they ; 3pf ellas = they
3m el señor {surname} = mr. {surname} ; 3f la señora {surname} = mrs. {surname} ; 3pm mis amigos = my friends
3pm nuestros vecinos = our neighbours ; 3pm los turistas = the tourists ; 3pm los niños = the children

person who:  # any subject of a statement
12* 1s (|||||yo) = i ; 8* 1p (|||||nosotros) = we
<someone

person relative:  # one person
3m mi marido = my husband ; 3f mi mujer / mi esposa = my wife ; 2* 3m mi hijo = my son ; 2* 3f mi hija = my daughter
3m mi hermano = my brother ; 3f mi hermana = my sister ; 3m mi padre = my father ; 3f mi madre = my mother
3f mi abuela = my grandmother ; 3m mi abuelo = my grandfather ; 3m mi amigo = my friend ; 3f mi amiga = my friend

person worker:
3m el camarero = the waiter ; 3f la camarera = the waitress ; 3m el recepcionista = the receptionist
3m el guía = the guide ; 3f la guía = the guide ; 3m el taxista = the taxi driver ; 3m el dueño = the owner
3m el conductor = the driver ; 3m el portero = the doorman / the porter ; 3f la enfermera = the nurse
3f la dependienta = the shop assistant / the sales assistant ; 3m el revisor = the ticket inspector
3m el farmacéutico = the pharmacist ; 3m el director = the manager ; 3m el cocinero = the cook

person clerk:
3m el recepcionista = the receptionist ; 3f la recepcionista = the receptionist
3f la dependienta = the shop assistant / the sales assistant
3m el dependiente = the shop assistant / the sales assistant ; 3f la secretaria = the secretary
3m el empleado = the clerk

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
f fotógrafa = photographer ; f actriz = actress ; f camarera = waitress ; f bailarina = dancer
f traductora = translator

name girl:
maría ; carmen ; ana ; lucía ; laura ; elena ; marta ; sofía ; paula ; isabel ; rosa ; pilar ; cristina ; teresa
beatriz ; irene ; alicia ; silvia ; nuria ; raquel ; clara ; inés ; eva ; julia ; victoria ; rocío ; patricia ; mercedes
blanca ; lola ; amparo ; virginia ; noelia ; lorena ; esther ; sonia ; miriam ; olga ; ainhoa ; begoña ; fátima ; gloria
susana

name boy:
antonio ; juan ; josé ; carlos ; luis ; pedro ; javier ; miguel ; david ; pablo ; alberto ; jorge ; manuel ; daniel
fernando ; rafael ; andrés ; sergio ; enrique ; ramón ; diego ; raúl ; álvaro ; tomás ; vicente ; ignacio ; óscar
rubén ; gonzalo ; marcos ; emilio ; jaime ; félix ; hugo ; mateo ; iván ; ricardo ; roberto ; guillermo ; salvador
adrián

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
segovia ; lisboa = lisbon ; cádiz ; santiago ; alicante ; san sebastián ; león ; burgos ; ávila ; murcia ; santander
gijón ; oporto = porto ; valladolid ; oviedo ; cuenca ; pamplona ; girona ; tarragona ; logroño ; mérida ; cáceres
ronda ; almería ; jaén ; huelva ; badajoz ; vigo ; la coruña ; lugo ; pontevedra ; orense ; vitoria ; huesca ; teruel
soria ; albacete ; ciudad real ; guadalajara ; zamora ; palencia ; castellón ; lérida ; marbella ; nerja ; sitges
figueras ; aranjuez ; el escorial ; chinchón ; sigüenza ; úbeda ; baeza ; jerez ; tarifa ; benidorm ; denia ; cartagena
elche ; trujillo ; plasencia ; astorga ; ponferrada ; santillana ; llanes ; avilés ; irún ; tudela ; jaca ; calatayud
loja

name abroad:  # reached by plane
londres = london ; parís = paris ; roma = rome ; berlín = berlin ; nueva york = new york ; ámsterdam = amsterdam
lisboa = lisbon ; viena = vienna ; milán = milan ; múnich = munich ; bruselas = brussels ; buenos aires
ginebra = geneva ; dublín = dublin ; atenas = athens ; praga = prague ; méxico = mexico city ; moscú = moscow
estambul = istanbul ; copenhague = copenhagen ; estocolmo = stockholm ; varsovia = warsaw ; venecia = venice
florencia = florence ; fráncfort = frankfurt ; hamburgo = hamburg ; edimburgo = edinburgh ; marsella = marseille
turín = turin ; nápoles = naples ; zúrich = zurich ; el cairo = cairo ; tokio = tokyo ; pekín = beijing ; bogotá ; lima
la habana = havana ; chicago ; boston ; miami ; toronto ; montreal ; oslo ; helsinki ; budapest ; caracas ; quito
tánger = tangier ; marrakech ; casablanca ; túnez = tunis ; nueva delhi = new delhi ; sídney = sydney
los ángeles = los angeles

phrase anycity:
2* {city} ; {abroad}

name country:
inglaterra = england ; francia = france ; alemania = germany ; italia = italy ; estados unidos = the united states
portugal ; escocia = scotland ; irlanda = ireland ; suiza = switzerland ; holanda = holland ; bélgica = belgium
austria ; argentina ; méxico = mexico ; canadá = canada ; suecia = sweden ; japón = japan ; noruega = norway ; chile
grecia = greece ; polonia = poland ; brasil = brazil ; dinamarca = denmark ; colombia ; perú = peru
marruecos = morocco ; finlandia = finland ; turquía = turkey ; hungría = hungary ; australia ; china ; india
egipto = egypt ; islandia = iceland

name street:
mayor ; serrano ; goya ; alcalá ; velázquez ; cervantes ; colón ; atocha ; toledo ; princesa ; bailén ; arenal
hortaleza ; fuencarral ; sagasta ; almagro ; lagasca ; quevedo ; lepanto ; mallorca ; aragón ; balmes ; muntaner ; urgel
floridablanca ; larios ; betis ; sierpes ; tetuán ; zaragoza ; jovellanos ; uría ; pelayo ; bravo ; embajadores
segovia ; moratín ; huertas ; zurbano ; orense ; narváez ; ibiza ; ayala ; lope de vega ; calderón ; góngora ; garcilaso
espronceda ; bécquer ; galdós

noun road:  # where things happen and addresses are
4* f calle {street} = {street} street ; f avenida de {city} = {city} avenue


name hotelname:
central ; europa ; miramar ; victoria ; colón ; imperial ; alhambra ; continental ; bristol ; palace ; atlántico ; goya
ritz ; regina ; excelsior ; plaza ; reina cristina ; san marcos ; mediterráneo ; alfonso ; doña maría ; montesol
avenida

noun shop:  # open and close, and are looked for
f farmacia = pharmacy / chemist 's ; m supermercado = supermarket ; f panadería = bakery
f librería = bookshop / bookstore ; m banco = bank ; f oficina de correos = post office
f oficina de turismo = tourist office ; f lavandería = laundry ; f tienda de recuerdos = souvenir shop
f zapatería = shoe shop ; f peluquería = hairdresser 's ; f joyería = jewellery shop ; m mercado = market
f tienda de ropa = clothes shop / clothing store ; f floristería = flower shop ; m quiosco = newsstand
m centro ~comercial = shopping centre / shopping mall ; f casa de cambio = exchange office ; f pastelería = cake shop
f óptica = optician 's ; f gasolinera = petrol station / gas station ; f ferretería = hardware shop
f frutería = fruit shop

noun sight:
m museo = museum ; f catedral = cathedral ; m castillo = castle ; m palacio ~real = royal palace
m acueducto = aqueduct ; f muralla = city wall ; f torre = tower ; m monasterio = monastery
m teatro ~romano = roman theatre ; m puente ~romano = roman bridge ; f mezquita = mosque ; f sinagoga = synagogue
m jardín ~botánico = botanical garden ; f iglesia = church ; m museo ~arqueológico = archaeological museum
m museo de bellas artes = museum~ of fine arts ; m acuario = aquarium ; m convento = convent ; f fortaleza = fortress
m faro = lighthouse ; f basílica = basilica ; f casa de cervantes = cervantes house
m museo de la ciencia = science museum ; f plaza de toros = bullring

noun datable:  # sights of which one asks the age
2* f catedral = cathedral ; m castillo = castle ; f muralla = city wall ; f torre = tower ; m monasterio = monastery
f mezquita = mosque ; f sinagoga = synagogue ; f iglesia = church ; m convento = convent ; f fortaleza = fortress
f basílica = basilica ; m palacio ~real = royal palace ; f universidad = university ; f capilla = chapel

noun citysight:
2* f catedral = cathedral ; m castillo = castle ; m casco ~antiguo = old town ; f plaza ~mayor = main square
m mercado = market ; f universidad = university ; f estación = station ; m museo de bellas artes = museum~ of fine arts
f iglesia = church ; m parque = park

noun museum:  # sights with a door and a ticket office
m museo = museum ; f catedral = cathedral ; m castillo = castle ; m palacio ~real = royal palace ; f torre = tower
m jardín ~botánico = botanical garden ; m museo ~arqueológico = archaeological museum ; m acuario = aquarium
m museo de bellas artes = museum~ of fine arts ; m monasterio = monastery ; m zoo = zoo ; f exposición = exhibition
m museo de la ciencia = science museum ; f fortaleza = fortress ; f basílica = basilica

noun office:
f comisaría = police station ; m hospital = hospital ; m ayuntamiento = town hall ; f biblioteca = library
f embajada = embassy ; m consulado = consulate ; f universidad = university ; m estadio = stadium ; f estación = station
f estación de tren = train station / railway station ; f estación de autobuses = bus station
f parada de taxis = taxi stand / taxi rank ; f parada de autobús = bus stop ; f estación de metro = metro station
m aparcamiento = car park / parking lot ; m cajero ~automático = cash machine / atm ; m puerto = harbour / port
m parque = park ; m teatro = theatre ; m cine = cinema ; m hotel {hotelname} = {hotelname} hotel
f piscina ~municipal = public swimming pool ; f plaza ~mayor = main square

noun landmark:
<shop
<sight
<office

noun place:
<landmark
2* m centro = city centre ; f playa = beach ; m aeropuerto = airport

noun near:  # of which there may be one round the corner
f farmacia = pharmacy / chemist 's ; m supermercado = supermarket ; f panadería = bakery
f librería = bookshop / bookstore ; m banco = bank ; f lavandería = laundry ; f zapatería = shoe shop
f peluquería = hairdresser 's ; m quiosco = newsstand ; f gasolinera = petrol station / gas station
m hospital = hospital ; f parada de taxis = taxi stand / taxi rank ; f parada de autobús = bus stop
f estación de metro = metro station ; m aparcamiento = car park / parking lot
m cajero ~automático = cash machine / atm ; m parque = park ; m cine = cinema ; f piscina = swimming pool
m restaurante = restaurant ; f cafetería = café ; m bar = bar ; f heladería = ice cream parlour
f pastelería = cake shop ; m hotel = hotel ; f oficina de turismo = tourist office ; f óptica = optician 's
m camping = campsite ; m taller = garage

noun leisure:  # where one goes to spend the day
f playa = beach ; m cine = cinema / movies ; m teatro = theatre ; m mercado = market ; m parque = park ; m zoo = zoo
f piscina = swimming pool / pool ; m museo = museum ; m concierto = concert ; f ópera = opera ; m estadio = stadium
m centro = city centre ; f discoteca = disco / nightclub ; m puerto = harbour / port ; f montaña = mountains
f feria = fair

noun eatery:
m restaurante = restaurant ; m bar = bar ; f cafetería = café ; m restaurante {cuisine} = {cuisine} restaurant

phrase locate:
al lado de {el landmark} = next to {the landmark}
enfrente de {el landmark} = opposite {the landmark} / across from {the landmark}
cerca de {el landmark} = near {the landmark} / close to {the landmark} ; detrás de {el landmark} = behind {the landmark}
delante de {el landmark} = in front of {the landmark} ; a la derecha de {el landmark} = to the right of {the landmark}
a la izquierda de {el landmark} = to the left of {the landmark}
entre {el landmark} y {el landmark2} = between {the landmark} and {the landmark2} ; en {el road} = on {road}
en la esquina = on the corner / at the corner ; al final de la calle = at the end of the street
en la plaza de {city} = in {city} square
al otro lado de la calle = on the other side of the street / across the street ; en el centro = in the city centre

phrase inside:
al fondo del pasillo = at the end of the corridor ; en la planta baja = on the ground floor
en el sótano = in the basement ; junto a la recepción = next to reception ; en el {nth} piso = on the {nth} floor
al lado del ascensor = next to the elevator / next to the lift ; en la {nthf} planta = on the {nthf} floor
a la derecha = on the right ; a la izquierda = on the left ; detrás de la recepción = behind reception

phrase nth:
primer = first ; segundo = second ; tercer = third ; cuarto = fourth ; quinto = fifth ; sexto = sixth
séptimo = seventh

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
number exchanged: 20..180/20
number roomno: 101..129
number roomnob: 201..229
number age: 3..19
number linenum: 2..60
number size: 36..46/2
number platform: 2..15
number degrees: 22..40/2

phrase roomnum:
{roomno} ; {roomnob}

phrase hour:
dos = two ; tres = three ; cuatro = four ; cinco = five ; seis = six ; siete = seven ; ocho = eight ; nueve = nine
diez = ten ; once = eleven ; doce = twelve

phrase clock:  # the English preposition is "at"; the Spanish one is "a"
4* las {hour} = {hour} / {hour} o'clock ; 3* las {hour} y media = half past {hour}
2* las {hour} y cuarto = a quarter past {hour} ; 2* las {hour} menos cuarto = a quarter to {hour} ; la una = one o'clock
la una y media = half past one ; las {hour} y diez = ten past {hour} ; las {hour} y veinte = twenty past {hour}
las {hour} menos diez = ten to {hour} ; las {hour} menos veinte = twenty to {hour}

phrase officehour:
las {hoffice} = {hoffice} / {hoffice} o'clock ; las {hoffice} y media = half past {hoffice}
las {hoffice} y cuarto = a quarter past {hoffice} ; las {hoffice} menos cuarto = a quarter to {hoffice}

phrase hoffice:
nueve = nine ; diez = ten ; once = eleven ; doce = twelve ; cuatro = four ; cinco = five ; seis = six

phrase plainday:
3* mañana = tomorrow ; 2* el {day} = on {day} ; el próximo {day} = next {day} ; pasado mañana = the day after tomorrow
{date} = on {date}

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
lunes = mondays ; martes = tuesdays ; miércoles = wednesdays ; jueves = thursdays ; domingos = sundays
sábados = saturdays

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
4* mañana = tomorrow ; 2* esta tarde = this afternoon ; 2* el {day} = on {day} ; el próximo {day} = next {day}
la semana que viene = next week ; la próxima semana = next week ; pasado mañana = the day after tomorrow
mañana por la mañana = tomorrow morning ; mañana por la tarde = tomorrow afternoon
el {day} por la tarde = on {day} afternoon ; el {day} por la mañana = on {day} morning
este fin de semana = this weekend ; {date} = on {date}

phrase past:
4* ayer = yesterday ; anteayer = the day before yesterday ; el {day} pasado = last {day} ; la semana pasada = last week
hace {few} días = {few} days ago ; ayer por la tarde = yesterday afternoon ; el fin de semana pasado = last weekend
ayer por la mañana = yesterday morning

phrase fornight:
2* para esta noche = for tonight ; para mañana = for tomorrow ; para el {day} = for {day}
para este fin de semana = for this weekend ; para el {day} por la noche = for {day} night ; para {date} = for {date}
para mañana por la noche = for tomorrow night

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
f caja ~fuerte = safe ; m grifo = tap / faucet ; f cerradura = lock ; f lámpara = lamp
m mando a distancia = remote control ; f persiana = blind ; m ventilador = fan ; f lavadora = washing machine
m microondas = microwave

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
f piscina = swimming pool / pool ; m gimnasio = gym ; m restaurante = restaurant ; m bar = bar
m ascensor = elevator / lift ; m aparcamiento = car park / parking lot ; f terraza = terrace ; f sauna = sauna
f caja ~fuerte = safe ; m jardín = garden

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
el ruido = the noise ; el calor = the heat ; el frío = the cold ; los vecinos = the neighbours
el tráfico = the traffic ; los mosquitos = the mosquitoes

noun luggage:
fp maletas = suitcases / bags ; m equipaje = luggage / baggage ; f maleta = suitcase ; fp mochilas = backpacks
fp bolsas = bags

noun meal:
2* m desayuno = breakfast ; f cena = dinner ; f comida = lunch

phrase leftat:
2* aquí = here ; en recepción = at reception ; en la habitación = in the room ; en consigna = at the left luggage office

phrase until:
hasta {clock} = until {clock} ; hasta mañana = until tomorrow ; hasta el {day} = until {day}
hasta esta tarde = until this afternoon

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
2* f piscina = swimming pool / pool ; m gimnasio = gym ; m comedor = dining room ; m bar = bar
m restaurante = restaurant ; f sauna = sauna

phrase fullfor:
esta semana = this week ; este fin de semana = this weekend ; hasta el {day} = until {day} ; en {month} = in {month}
hasta {month} = until {month} ; toda la semana = all week

noun hotelword:
m hotel = hotel ; f pensión = guesthouse ; m hostal = hostel ; m alojamiento = place to stay

phrase nightsdays:
noches = nights ; días = days ; semanas = weeks

phrase stayin:
en {city} = in {city} ; aquí = here ; en el hotel {hotelname} = at the {hotelname} hotel
en casa de {person} = with {person}

phrase leftplace:
en la habitación = in the room ; en el taxi = in the taxi ; en el tren = on the train
en el bar = in the bar / at the bar ; en la playa = on the beach ; en casa = at home ; en el autobús = on the bus
en la recepción = at reception ; en el coche = in the car ; en el restaurante = at the restaurant
en el museo = in the museum / at the museum ; en el banco = at the bank
en un banco del parque = on a bench in the park ; en la tienda = in the shop ; en el aeropuerto = at the airport

verb turnonoff:
encender / poner = turn on / switch on ; apagar / quitar = turn off / switch off

noun appliance:
m aire acondicionado = air conditioning ; f calefacción = heating ; f luz = light ; f televisión = television / tv
m ventilador = fan ; f radio = radio ; f música = music

noun flat:
m piso = flat / apartment ; m apartamento = apartment

adj flatadj:
pequeño = small ; grande = big ; nuevo = new ; céntrico = central ; moderno = modern ; luminoso = bright
amueblado = furnished

phrase locflat:
en el centro = in the city centre ; cerca de la playa = near the beach ; cerca del mar = near the sea
en las afueras = on the outskirts ; con vistas al parque = with a view of the park
con dos dormitorios = with two bedrooms ; cerca de la universidad = near the university ; con jardín = with a garden
en {city} = in {city}
"""

FOOD = """
adj cuisine:
italiano = italian ; chino = chinese ; japonés = japanese ; mexicano = mexican ; francés = french
vegetariano = vegetarian ; indio = indian ; griego = greek ; tailandés = thai ; argentino = argentinian
turco = turkish

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
m té con limón = tea~ with lemon ; f botella de vino tinto = bottle~ of red wine
f copa de vino blanco = glass~ of white wine ; f copa de vino tinto = glass~ of red wine
f jarra de sangría = jug~ of sangria ; f botella de agua = bottle~ of water ; m chocolate ~caliente = hot chocolate
m refresco = soft drink ; m batido de {flavour} = {flavour} milkshake ; m cortado = espresso~ with milk
f limonada = lemonade

noun softly:  # what one has for a chat
3* m café = coffee ; 2* f cerveza = beer ; m té = tea ; f copa = drink ; m refresco = soft drink ; m helado = ice cream
f copa de vino = glass~ of wine ; m chocolate = hot chocolate

noun cutlery:
m tenedor = fork ; m cuchillo = knife ; f cuchara = spoon ; f servilleta = napkin ; m vaso = glass ; m plato = plate
f cucharilla = teaspoon ; f copa = wine glass

noun seasoning:
f sal = salt ; f pimienta = pepper ; m aceite = oil ; m azúcar = sugar ; m vinagre = vinegar ; m pan = bread
f mayonesa = mayonnaise ; f mantequilla = butter ; f leche = milk ; m hielo = ice ; m queso = cheese

phrase allergen:
los frutos secos = nuts ; el marisco = seafood / shellfish ; los cacahuetes = peanuts ; la leche = milk
el gluten = gluten ; los huevos = eggs ; el pescado = fish

noun produce:
f manzana = apple ; f naranja = orange ; m tomate = tomato ; m plátano = banana ; f pera = pear ; f patata = potato
m limón = lemon ; f cebolla = onion ; f fresa = strawberry ; m melocotón = peach ; f zanahoria = carrot
f cereza = cherry ; m pimiento = pepper ; f uva = grape ; f aceituna = olive

noun liked:  # gustar; nouns with the article in Spanish and without in English
f música ~clásica = classical music ; m vino = wine ; f comida ~española = spanish food ; m flamenco = flamenco
m fútbol = football / soccer ; m marisco = seafood ; m queso = cheese ; f cerveza = beer ; m té = tea
m chocolate = chocolate ; f música = music ; m arte ~moderno = modern art ; m pescado = fish ; m café = coffee
m tenis = tennis ; m cine = cinema ; fp playas = beaches ; mp museos = museums ; mp gatos = cats ; mp perros = dogs
fp películas antiguas = old films / old movies ; fp ciudades grandes = big cities ; mp helados = ice cream
fp fiestas = parties ; fp montañas = mountains ; fp flores = flowers

noun favourite:  # gustar of a definite thing
f ciudad = city ; m hotel = hotel ; f comida = food ; f habitación = room ; f exposición = exhibition
m barrio = neighbourhood ; f playa = beach ; m concierto = concert ; m restaurante = restaurant ; fp vistas = views
f catedral = cathedral ; f película = film / movie ; m vino = wine ; mp postres = desserts ; mp jardines = gardens
fp fotos = photos / pictures

noun starter:
f tortilla de patatas = potato omelette / spanish omelette ; f ensalada ~mixta = mixed salad
f sopa de verduras = vegetable soup ; f sopa de pescado = fish soup
fp gambas al ajillo = garlic prawns / garlic shrimp ; mp calamares fritos = fried squid
fp croquetas de jamón = ham croquettes ; m gazpacho = gazpacho ; f sopa de ajo = garlic soup
fp alcachofas = artichokes ; m pulpo a la gallega = galician-style octopus ; fp lentejas = lentils
mp espárragos = asparagus ; mp champiñones = mushrooms

noun main:
f paella = paella ; m pollo ~asado = roast chicken ; m filete = steak ; f merluza = hake
fp chuletas de cordero = lamb chops ; m bacalao = cod ; m salmón = salmon ; m pescado a la plancha = grilled fish
f lasaña = lasagne ; m arroz con pollo = chicken~ with rice ; f pizza de queso = cheese pizza
fp albóndigas = meatballs ; f hamburguesa = hamburger ; f dorada al horno = baked sea bream
m cordero ~asado = roast lamb ; m atún = tuna ; m conejo con tomate = rabbit~ with tomato ; m lomo de cerdo = pork loin

noun dish:
<starter
<main

noun cooked:  # made after a recipe
f paella = paella ; f lasaña = lasagne ; fp albóndigas = meatballs ; fp croquetas = croquettes ; m gazpacho = gazpacho
f salsa = sauce ; f sopa de pescado = fish soup ; f sopa de verduras = vegetable soup ; f sopa de ajo = garlic soup
f ensalada ~mixta = mixed salad ; f tarta de queso = cheesecake ; m plato del día = dish~ of the day
f tortilla de patatas = potato omelette / spanish omelette

phrase tablewhere:
junto a la ventana = by the window ; en la terraza = on the terrace ; en el jardín = in the garden ; dentro = inside
en un rincón tranquilo = in a quiet corner ; fuera = outside

phrase dinnerday:
2* para esta noche = for tonight ; para mañana por la noche = for tomorrow night ; para el {day} = for {day}
para mañana = for tomorrow ; para el {day} por la noche = for {day} night

noun served:
3* f cuenta = bill / check ; 3* f carta = menu ; f carta de vinos = wine list ; m menú del día = set menu~ of the day
f carta de postres = dessert menu ; f lista de precios = price list

phrase ingredient:
ajo = garlic ; cebolla = onion ; leche = milk ; queso = cheese ; gluten ; carne = meat ; huevo = egg ; nata = cream
cerdo = pork ; marisco = seafood ; frutos secos = nuts

phrase noeat:
carne = meat ; pescado = fish ; queso = cheese ; huevos = eggs ; ajo = garlic ; cebolla = onions ; pan = bread
marisco = seafood ; gluten ; chocolate ; cerdo = pork ; frutos secos = nuts

noun beverage:
2* m café = coffee ; m té = tea ; 2* f cerveza = beer ; m zumo de naranja = orange juice ; m vino = wine
f limonada = lemonade ; m zumo de tomate = tomato juice ; m café ~solo = black coffee

noun eatword:
2* m restaurante = restaurant ; m bar = bar ; f cafetería = café

adj serviceadj:
bueno = good ; lento = slow ; rápido = fast ; malo = bad ; caro = expensive

phrase paymode:
con tarjeta = by card / by credit card ; en efectivo = in cash ; con tarjeta de crédito = by credit card
en dólares = in dollars ; con el móvil = with my phone

person waiter:
3m el camarero = the waiter ; 3f la camarera = the waitress

phrase atipped:
al camarero = the waiter ; a la camarera = the waitress ; al taxista = the taxi driver ; al guía = the guide

noun meat:
m filete = steak ; f carne = meat ; m solomillo = sirloin ; f hamburguesa = hamburger

noun servedhot:
f sopa = soup ; m café = coffee ; f carne = meat ; m pescado = fish ; f comida = food ; fp patatas = potatoes
m té = tea ; f tortilla = omelette ; fp verduras = vegetables ; m arroz = rice ; f pizza = pizza ; mp calamares = squid
f leche = milk

noun saltable:
f sopa = soup ; f carne = meat ; m pescado = fish ; f salsa = sauce ; m arroz = rice ; fp patatas = potatoes
fp lentejas = lentils ; fp gambas = prawns ; f ensalada = salad ; m jamón = ham ; f paella = paella

noun burnable:
f carne = meat ; m pan = bread ; m arroz = rice ; fp patatas = potatoes ; f pizza = pizza ; m pescado = fish
f tostada = toast

noun rawfood:
f carne = meat ; m pescado = fish ; m pollo = chicken ; fp chuletas = chops ; fp albóndigas = meatballs

phrase foodfault:
2* {el servedhot} estar.pres@servedhot frío@servedhot = {the servedhot} be.pres@servedhot cold
2* {el saltable} estar.pres@saltable demasiado salado@saltable = {the saltable} be.pres@saltable too salty
{el burnable} estar.pres@burnable quemado@burnable = {the burnable} be.pres@burnable burnt
{el rawfood} estar.pres@rawfood crudo@rawfood = {the rawfood} be.pres@rawfood raw
{el saltable} tener.pres@saltable (demasiada|mucha) sal = there is too much salt in {the saltable}
este {tableware} está sucio = this {tableware} is dirty ; el agua no está fría = the water is n't cold
el pan está duro = the bread is (stale|hard) ; la carne está muy dura = the meat is very tough

phrase tableware:
vaso = glass ; plato = plate ; tenedor = fork ; cuchillo = knife ; mantel = tablecloth

adj tasty:
delicioso = delicious ; muy ~bueno = very good ; muy ~rico = very good / very tasty ; riquísimo = delicious
buenísimo = really good

adj tastyword:
rico = delicious / tasty ; bueno = good

noun tasted:
<starter
<main
<dessert
f comida = food ; m vino = wine

phrase mealtime:
cenar = dinner ; comer = lunch ; desayunar = breakfast

phrase weight:
2* un kilo = a kilo ; 2* medio kilo = half a kilo ; dos kilos = two kilos ; un cuarto de kilo = a quarter of a kilo
tres kilos = three kilos ; una bolsa = a bag ; una caja = a box

noun fruit:
f manzana = apple ; f naranja = orange ; m tomate = tomato ; m plátano = banana ; f pera = pear ; m melón = melon
f fresa = strawberry ; m melocotón = peach ; f cereza = cherry ; f ciruela = plum

phrase orchard:
valencia ; murcia ; almería ; huelva ; granada ; nuestro jardín = our garden ; este mercado = this market

adj fruitadj:
dulce = sweet ; bueno = good ; jugoso = juicy ; famoso = famous ; caro = expensive ; sabroso = tasty
"""

TRAVEL = """
noun ride:  # has a platform or a stop
3* m tren = train ; 2* m autobús / bus = bus

noun line:  # goes to a city
3* m tren = train ; 2* m autobús / bus = bus

phrase ridden:
el metro = the metro / the underground / the subway ; el autobús / el bus = the bus ; un taxi = a taxi
el tranvía = the tram ; el tren = the train

noun missed:
m tren = train ; m autobús / bus = bus ; m avión = plane ; m vuelo = flight ; m ferry = ferry

noun hire:
m coche = car ; f bicicleta / bici = bike ; f moto = motorbike ; m barco = boat ; f furgoneta = van
f sombrilla = sunshade ; m casco = helmet

noun hired:
2* m coche = car ; f bicicleta / bici = bike ; f moto = motorbike ; f furgoneta = van

phrase fare:
de ida = one-way ; de ida y vuelta = return / round-trip ; sencillo = one-way ; de primera clase = first-class

phrase fares:
de ida = one-way ; de ida y vuelta = return / round-trip ; sencillos = one-way ; de segunda clase = second-class

noun seat:
m asiento de ventanilla = window seat ; m asiento de pasillo = aisle seat

noun carpart:
m motor = engine ; mp frenos = brakes ; f batería = battery ; mp faros = headlights
m limpiaparabrisas = windscreen wiper ; m aire acondicionado = air conditioning ; f radio = radio ; fp luces = lights

phrase lateby:
{minutes} minutos = {minutes} minutes ; una hora = one hour / an hour ; media hora = half an hour
{few} horas = {few} hours

phrase turn:
a la derecha = right ; a la izquierda = left

phrase side:
a la derecha = on the right ; a la izquierda = on the left

phrase journey:
en coche = by car ; en tren = by train ; en autobús = by bus ; en avión = by plane

phrase intown:
en taxi = by taxi ; en autobús = by bus ; en metro = by metro / by subway ; a pie / andando = on foot

noun dest:  # a place to travel to across the town
<sight
f universidad = university ; m estadio = stadium ; f playa = beach ; m hospital = hospital ; m aeropuerto = airport
m centro = city centre ; f estación = station ; f estación de tren = train station / railway station
m puerto = harbour / port ; f embajada = embassy ; m consulado = consulate ; m hotel {hotelname} = {hotelname} hotel
f plaza ~mayor = main square ; f estación de autobuses = bus station ; m zoo = zoo ; m teatro = theatre
m ayuntamiento = town hall

noun bus:
m autobús / bus = bus

noun catch:
2* m taxi = taxi ; m autobús / bus = bus ; m tranvía = tram ; m tren {tocity} = train~ {tocity}
m autobús {tocity} = bus~ {tocity}

phrase tocity:
a {city} = to {city} ; para {city} = to {city}

phrase forday:
mañana = tomorrow ; el {day} = {day} ; pasado mañana = the day after tomorrow ; esta tarde = this afternoon
{date} = {date}

phrase stopname:
estación = station ; parada = stop

phrase seatstate:
libre = free ; ocupado = taken

phrase latecause:
por culpa del tráfico = because of the traffic ; por {minutes} minutos = by {minutes} minutes
esta mañana = this morning ; ayer = yesterday ; por culpa de {relative} = because of {relative}

phrase nextstop:
3* próxima = next ; segunda = second ; tercera = third ; última = last

phrase stopat:
aquí = here ; en la esquina = at the corner ; delante del hotel = in front of the hotel
delante {del office} = in front of {the office} ; en el semáforo = at the traffic lights

phrase hiretime:
para {few} días = for {few} days ; para una semana = for a week
para este fin de semana = for the weekend / for this weekend ; por un día = for one day / for a day
para mañana = for tomorrow

noun motored:
m coche = car ; m autobús / bus = bus ; m taxi = taxi ; m tren = train ; f moto = motorbike ; m barco = boat

phrase parkhere:
aquí = here ; en esta calle = in this street ; delante del hotel = in front of the hotel ; en la plaza = in the square

noun flight:
m vuelo = flight

verb changebook:
cambiar = change ; anular / cancelar = cancel ; confirmar = confirm

noun carried:
f maleta = suitcase ; f mochila = backpack ; f bolsa = bag ; f caja = box

phrase corner:
la esquina = the corner ; el semáforo = the traffic lights ; la rotonda = the roundabout ; el cruce = the crossroads
la segunda esquina = the second corner ; el próximo semáforo = the next traffic lights ; {el landmark} = {the landmark}

phrase beforeafter:
después de = after ; antes de = before

noun crossing:
f plaza = square ; m puente = bridge ; f calle = street ; m parque = park ; m río = river ; f avenida = avenue
f plaza ~mayor = main square

phrase nthfew:
2* primera = first ; 2* segunda = second ; tercera = third ; próxima = next ; cuarta = fourth

phrase distance:
{few} calles = {few} streets / {few} blocks ; {small} kilómetros = {small} kilometres
{minutes} metros = {minutes} metres ; un kilómetro = one kilometre

noun plan:
2* m plano de la ciudad = map~ of the city / city map ; m plano del metro = metro map / map~ of the metro
m plano de {city} = map~ of {city} ; m mapa de carreteras = road map

noun department:
m restaurante = restaurant ; f sección de {section} = {section} department ; m despacho del director = manager 's office
f cafetería = café ; f caja = cash desk

phrase section:
zapatos = shoe ; juguetes = toy ; deportes = sports ; libros = book ; muebles = furniture ; ropa = clothing

noun addressed:
m hotel {hotelname} = {hotelname} hotel ; m museo = museum ; f embajada = embassy ; m consulado = consulate
m hospital = hospital ; f escuela de idiomas = language school ; m restaurante = restaurant
f oficina de turismo = tourist office ; m banco = bank
"""

SHOPPING = """
noun cloth:
f camisa = shirt ; f camiseta = t-shirt ; m vestido = dress ; f falda = skirt ; f chaqueta = jacket ; m abrigo = coat
m sombrero = hat ; m jersey = sweater / jumper ; mp pantalones = trousers / pants ; mp zapatos = shoes
mp zapatos planos = flat shoes ; fp sandalias = sandals ; fp botas = boots ; m cinturón = belt ; mp vaqueros = jeans
f gorra = cap ; m bañador = swimsuit ; f blusa = blouse ; m traje = suit ; mp guantes = gloves
fp zapatillas = trainers / sneakers

noun gift:
m abanico = fan ; m collar = necklace ; m anillo = ring ; f pulsera = bracelet ; m libro = book ; m bolso = handbag
m reloj = watch ; f botella de aceite = bottle~ of oil ; f botella de vino = bottle~ of wine
f caja de bombones = box~ of chocolates ; m ramo de flores = bunch~ of flowers ; f muñeca = doll ; f camiseta = t-shirt
f bufanda = scarf ; m cuadro = painting ; fp gafas de sol = sunglasses ; mp pendientes = earrings ; f cesta = basket
m jarrón = vase ; f guitarra = guitar

noun souvenir:
<gift
f postal = postcard ; m imán = fridge magnet ; m plato de cerámica = ceramic plate ; f guía de la ciudad = city guide

noun goods:  # bought in shops
m paraguas = umbrella ; f tarjeta de teléfono = phone card ; f guía de la ciudad = city guide
m plano de la ciudad = city map ; m periódico = newspaper ; f pila = battery ; m cepillo de dientes = toothbrush
f crema ~solar = sun cream ; m mapa = map ; m adaptador = adapter ; m mechero = lighter
f linterna = torch / flashlight ; m diccionario = dictionary ; m cargador = charger ; f revista = magazine
m cuaderno = notebook ; f toalla de playa = beach towel ; f maleta = suitcase

noun lend:
m bolígrafo = pen ; m paraguas = umbrella ; m lápiz = pencil ; m diccionario = dictionary ; m mapa = map
m cargador = charger ; fp tijeras = scissors ; m secador = hair dryer ; m mechero = lighter
f linterna = torch / flashlight

adj colour:
rojo = red ; azul = blue ; verde = green ; negro = black ; blanco = white ; gris = grey ; marrón = brown
amarillo = yellow ; rosa = pink ; naranja = orange

phrase incolour:
rojo = red ; azul = blue ; verde = green ; negro = black ; blanco = white ; gris = grey ; marrón = brown
amarillo = yellow ; azul claro = light blue ; rosa = pink ; azul oscuro = dark blue ; otro color = another colour
verde claro = light green

phrase material:
algodón = cotton ; cuero = leather ; seda = silk ; lana = wool ; lino = linen

adj fit:
grande = big ; pequeño = small ; estrecho = tight

adj goodsadj:
barato = cheap ; bonito = pretty / nice ; grande = big ; pequeño = small ; moderno = modern ; sencillo = simple
ligero = light

noun valuable:
f cartera = wallet ; m pasaporte = passport ; m bolso = bag ; m móvil = mobile phone / cell phone ; f cámara = camera
fp llaves = keys ; f maleta = suitcase ; m reloj = watch ; m billete = ticket ; f mochila = backpack
m paraguas = umbrella ; fp gafas de sol = sunglasses ; f tarjeta de crédito = credit card
m carné de conducir = driving licence / driver 's license ; m ordenador ~portátil = laptop
mp billetes de tren = train tickets

noun paper:
m pasaporte = passport ; m billete = ticket ; f tarjeta de embarque = boarding pass
m carné de conducir = driving licence ; f firma = signature ; f dirección = address
m número de teléfono = phone number ; f reserva = booking / reservation

noun document:
2* m pasaporte = passport ; 2* m billete = ticket ; f tarjeta de embarque = boarding pass
m carné de conducir = driving licence / driver 's license ; f reserva = booking / reservation
m carné de estudiante = student card

phrase currency:
dólares = dollars ; libras = pounds ; francos suizos = swiss francs

noun postal:
f carta = letter ; f postal = postcard ; m paquete = parcel / package ; m sobre = envelope

noun garment:
f camisa = shirt ; m vestido = dress ; f falda = skirt ; f chaqueta = jacket ; f blusa = blouse
m jersey = sweater / jumper ; mp pantalones = trousers / pants ; m abrigo = coat ; f camiseta = t-shirt

noun unisex:
f camisa = shirt ; f camiseta = t-shirt ; f chaqueta = jacket ; m abrigo = coat ; m sombrero = hat
m jersey = sweater / jumper ; mp pantalones = trousers / pants ; mp zapatos = shoes ; f gorra = cap ; f bufanda = scarf
fp botas = boots ; mp vaqueros = jeans

adj lengthy:
corto = short ; largo = long

noun priced:
<gift
<cloth

noun buyable:
<gift
<goods
<cloth
f postal = postcard ; m imán = fridge magnet ; m plato de cerámica = ceramic plate

phrase sizeadj:
grande = larger / bigger ; pequeña = smaller

phrase inwindow:
del escaparate = in the shop window ; de ahí = over there ; de allí = over there

verb swap:
devolver = return ; cambiar = exchange

noun gadget:
m secador = hair dryer ; f cámara = camera ; m reloj = watch ; f linterna = torch / flashlight ; m cargador = charger
f radio = radio ; m móvil = mobile phone / cell phone ; f lámpara = lamp ; m despertador = alarm clock
m mechero = lighter

noun givable:
2* f bolsa = bag ; 2* m recibo = receipt ; f factura = invoice ; m folleto = brochure / leaflet ; m plano = map
m bolígrafo = pen ; m formulario = form ; f lista de precios = price list ; m horario de trenes = train timetable

noun written:
2* f carta = letter ; f postal = postcard ; m correo = email / e-mail

noun account:
f cuenta = account

noun bankcard:
f tarjeta = card ; f tarjeta de crédito = credit card

noun coin:
m dólar = dollar ; f libra = pound ; m franco ~suizo = swiss franc ; m yen = yen

phrase smallnote:
diez = ten-euro ; veinte = twenty-euro

phrase bignote:
diez = ten-euro ; veinte = twenty-euro ; cincuenta = fifty-euro ; doscientos = two-hundred-euro
quinientos = five-hundred-euro

phrase workplace:
2* un banco = at a bank / in a bank ; un hospital = at a hospital / in a hospital ; una escuela = at a school
una oficina = in an office ; un restaurante = at a restaurant / in a restaurant ; una fábrica = in a factory
una tienda de ropa = in a clothes shop ; un hotel = at a hotel / in a hotel ; una biblioteca = in a library

phrase benchplace:
en el parque = in the park ; bajo el árbol = under the tree ; delante de la fuente = in front of the fountain
a la sombra = in the shade ; junto al río = by the river ; en el jardín = in the garden ; en la plaza = in the square
detrás de la iglesia = behind the church ; cerca del lago = near the lake

phrase benchof:
del parque = in the park ; del jardín = in the garden ; de la plaza = in the square ; de la entrada = at the entrance

phrase benchstate:
roto = broken ; mojado = wet ; ocupado = taken ; recién pintado = freshly painted ; libre = free ; sucio = dirty

verb bankdo:
cambiar dinero = change some money ; sacar dinero = withdraw some money ; abrir una cuenta = open an account
pedir un préstamo = ask for a loan ; ingresar un cheque = pay in a cheque

noun contact:
m número de teléfono = phone number ; m nombre = name ; f dirección = address ; m apellido = surname / last name
f dirección de correo = email address ; m número de habitación = room number ; f nacionalidad = nationality

noun phone:
m teléfono = phone ; m ordenador = computer ; m móvil = mobile phone / cell phone ; m baño = bathroom
m cargador = charger

phrase nosignal:
cobertura = signal / reception ; batería = battery left ; sonido = sound

phrase later:
2* más tarde = later ; mañana = tomorrow ; a {clock} = at {clock} ; esta tarde = this afternoon
dentro de {minutes} minutos = in {minutes} minutes

phrase nowhere:
ahora = right now ; en este momento = at the moment ; hoy = today ; esta semana = this week
"""

HEALTH = """
noun bodypart:
3* f cabeza = head ; m estómago = stomach ; f espalda = back ; f garganta = throat ; m brazo = arm ; f pierna = leg
m pie = foot ; f rodilla = knee ; m tobillo = ankle ; m hombro = shoulder ; f mano = hand ; m cuello = neck
f muñeca = wrist ; m dedo = finger ; m oído = ear ; f barriga = tummy ; fp muelas = teeth ; mp oídos = ears
mp pies = feet ; mp ojos = eyes ; fp piernas = legs ; fp rodillas = knees ; m pecho = chest ; f lengua = tongue

noun broken:
m brazo = arm ; f pierna = leg ; m tobillo = ankle ; f muñeca = wrist ; m dedo = finger ; m pie = foot ; f nariz = nose

noun sprained:
m tobillo = ankle ; f muñeca = wrist ; f rodilla = knee

phrase ailment:
fiebre = a fever / a temperature ; tos = a cough ; un resfriado = a cold ; dolor de cabeza = a headache
dolor de estómago = a stomach ache ; gripe = the flu ; dolor de garganta = a sore throat ; una infección = an infection
una herida en {el broken} = a wound on {my broken} ; alergia al polen = a pollen allergy

phrase feeling:
hambre = hungry ; sed = thirsty ; frío = cold ; calor = hot ; sueño = sleepy ; miedo = afraid ; prisa = in a hurry
razón = right

phrase bigfeeling:
hambre = hungry ; sed = thirsty ; frío = cold ; calor = hot ; sueño = sleepy ; miedo = scared

adj mood:  # estar
cansado = tired ; enfermo = ill / sick ; contento = happy ; perdido = lost ; mareado = dizzy ; preocupado = worried
listo = ready ; ocupado = busy ; enfadado = angry ; solo = alone ; aburrido = bored

noun pill:
f pastilla = pill / tablet ; f cucharada de jarabe = spoonful~ of syrup ; f aspirina = aspirin ; f cápsula = capsule

noun prescribed:
fp pastillas = pills / tablets ; m jarabe = syrup ; fp gotas = drops ; m antibiótico = antibiotic ; f crema = cream
m medicamento = medicine

noun medicine:
f caja de aspirinas = box~ of aspirin ; m jarabe para la tos = cough syrup
f crema para las quemaduras = cream~ for burns ; fp tiritas = plasters / band-aids ; m termómetro = thermometer
f venda = bandage ; m antiséptico = antiseptic ; fp pastillas para la garganta = throat lozenges
fp gotas para los ojos = eye drops ; m protector ~solar = sunscreen

phrase substance:
la penicilina = penicillin ; la aspirina = aspirin ; el polen = pollen ; los gatos = cats
los antibióticos = antibiotics ; las abejas = bees ; los perros = dogs

phrase alot:
mucho = a lot ; un poco = a bit / a little ; bastante = quite a lot

phrase alottwo:
mucho = a lot / very much

noun burnt:
f mano = hand ; m dedo = finger ; m brazo = arm ; f lengua = tongue

phrase fallwhere:
por las escaleras = down the stairs ; en la calle = in the street ; al agua = into the water
de la bicicleta = off the bike ; en la ducha = in the shower ; en la playa = on the beach ; de la cama = out of bed

adj moodgrade:  # estar, in degrees
cansado = tired ; contento = happy ; preocupado = worried ; ocupado = busy ; enfadado = angry ; nervioso = nervous
triste = sad ; aburrido = bored

phrase mealwhen:
antes de las comidas = before meals ; después de las comidas = after meals ; con las comidas = with meals
durante una semana = for a week

phrase medic:
2* el médico = the doctor ; el dentista = the dentist ; el doctor {surname} = doctor {surname}
la doctora {surname} = doctor {surname}

phrase remedy:
el dolor de cabeza = a headache ; la tos = a cough ; las quemaduras = sunburn ; el mareo = travel sickness
la fiebre = a fever ; las picaduras de mosquito = mosquito bites ; el dolor de garganta = a sore throat
la alergia = hay fever ; el resfriado = a cold ; el dolor de muelas = toothache ; la diarrea = diarrhoea
el dolor de estómago = a stomach ache ; el insomnio = insomnia

phrase layon:
aquí = here ; en la camilla = on the couch ; boca arriba = on your back ; boca abajo = on your stomach

phrase how:
mal = bad / unwell ; mejor = better ; bien = fine / well ; mucho mejor = much better
peor que ayer = worse than yesterday ; un poco mareado@patient = a little dizzy ; muy cansado@patient = very tired

phrase danger:
el perro = the dog ; el escalón = the step ; los coches = the cars ; el tren = the train ; el cristal = the glass
los ladrones = thieves ; las medusas = the jellyfish ; las olas = the waves ; el hielo = the ice ; el horno = the oven

phrase rescuer:
2* la policía = the police ; 2* una ambulancia = an ambulance ; los bomberos = the fire brigade / the fire department
un médico = a doctor ; un taxi = a taxi ; seguridad = security

phrase stolenwhere:
en el metro = on the metro / in the subway ; en la playa = on the beach ; en la estación = at the station
en el mercado = at the market ; en el tren = on the train ; en {el road} = on {road} ; en el aeropuerto = at the airport

adj hurt:
herido = injured / hurt ; inconsciente = unconscious ; grave = seriously ill

phrase faintwhere:
en la calle = in the street ; en el tren = on the train ; en la cola = in the queue
en el museo = in the museum / at the museum ; por el calor = because of the heat

phrase trap:
el ascensor = the elevator / the lift ; el baño = the bathroom ; el sótano = the basement ; {el museum} = {the museum}

phrase keysin:
del coche = in the car ; de la habitación = in the room ; de casa = in the house

noun burning:
m hotel = hotel ; f cocina = kitchen ; m edificio = building ; m garaje = garage ; m bosque = forest
"""

DOINGS = """
verb act:  # what tourists do
2* visitar {el sight} = visit {the sight} ; ver {el sight} = see {the sight} ; 2* ir {al leisure} = go to {the leisure}
dar un paseo {stroll} = take a walk {stroll} / go for a walk {stroll} ; tomar {un softly} = have {a softly}
tomar {un softly} con {person} = have {a softly} with {person} ; comprar {un souvenir} = buy {a souvenir}
sacar fotos de {el sight} = take pictures of {the sight} / take photos of {the sight}
alquilar {un hired} = rent {a hired} / hire {a hired} ; hacer una excursión a {city} = go on a trip to {city}
bañarse en {water} = swim in {water} ; montar en bicicleta = ride a bike ; ir de compras = go shopping
jugar {sport} = play {sport} ; ver un partido de fútbol = watch a football match / see a football match
mandar una postal a {family} = send a postcard to {family} / send {family} a postcard
visitar a {person} = visit {person} ; hacer fotos en {city} = take photos in {city} / take pictures in {city}
coger {el line} a {city} = take {the line} to {city} / catch {the line} to {city} ; descansar un rato = rest for a while
subir a la torre = go up the tower ; ir a {anycity} = go to {anycity} ; cambiar dinero = change some money
buscar {un flat} en el centro = look for {a flat} in the city centre
tomar el autobús a {city} = take the bus to {city}
sacar dinero {del cash} = withdraw money from {the cash} / get money from {the cash}
escribir una carta a {person} = write a letter to {person} / write {person} a letter
pasar el día en {city} = spend the day in {city} ; llevar a los niños {al leisure} = take the children to {the leisure}
llamar a {person} = call {person} / phone {person} ; sentarse en un banco {benchplace} = sit on a bench {benchplace}
abrir una cuenta en el banco = open an account at the bank
recoger {el luggage} en la estación = pick up {the luggage} at the station ; quedar con {person} = meet {person}
comprar un plano de {city} = buy a map of {city}

verb done:  # what one has done or not yet
2* visitar {el sight} = visit {the sight} ; ver {el performancetwo} = see {the performancetwo}
probar {el dish} = try {the dish} ; comprar {un souvenir} para {person} = buy {a souvenir} for {person}
mandar una postal a {family} = send a postcard to {family} / send {family} a postcard
sacar fotos {del sight} = take pictures of {the sight} / take photos of {the sight}
abrir una cuenta en el banco = open an account at the bank
recoger {el luggage} en la estación = pick up {the luggage} at the station ; conocer a {stranger} = meet {stranger}
subir a la torre = go up the tower ; alquilar {un hired} = rent {a hired} / hire {a hired}
encontrar {un flat} = find {a flat} ; sacar las entradas = get the tickets / buy the tickets
hacer la maleta = pack the suitcase ; cambiar dinero = change money
pedir la cuenta = ask for the bill / ask for the check ; llamar a {person} = call {person} / phone {person}
pagar la cuenta = pay the bill ; desayunar = have breakfast ; sacar dinero = withdraw money / get money
reservar {un roomkind} = book {a roomkind} / reserve {a roomkind}

verb nightly:  # what one does at night
cenar en {un eatery} = have dinner at {a eatery} ; cenar con {person} = have dinner with {person}
tomar {un softly} con {person} = have {a softly} with {person} ; ir {al nightplace} = go to {the nightplace}
ver un partido de fútbol = watch a football match ; jugar a las cartas = play cards
quedar con {person} = meet {person} ; ver las estrellas = look at the stars ; pedir una pizza = order a pizza
dormir en {un tent} = sleep in {a tent} ; dar un paseo {stroll} = take a walk {stroll} / go for a walk {stroll}
llamar a {person} = call {person} / phone {person} ; ver la televisión = watch television

noun nightplace:
m cine = cinema / movies ; m teatro = theatre ; f ópera = opera ; m concierto = concert
f discoteca = disco / nightclub ; f fiesta = party

noun tented:
f tienda = tent

phrase tentwhere:
en el camping = at the campsite ; junto al río = by the river ; bajo los árboles = under the trees
cerca del lago = near the lake ; en el jardín = in the garden

noun tent:
f tienda de campaña = tent ; f pensión = guesthouse ; m hostal = hostel

phrase tonight:
2* esta noche = tonight ; mañana por la noche = tomorrow night / tomorrow evening
el {day} por la noche = on {day} night / on {day} evening

phrase lastnight:
2* anoche = last night ; ayer por la noche = last night ; el {day} por la noche = on {day} night / on {day} evening

verb outing:  # what one sets out for
visitar {el sight} = visit {the sight} ; ir {al leisure} = go to {the leisure}
dar un paseo {stroll} = take a walk {stroll} / go for a walk {stroll} ; comer en {un eatery} = have lunch at {a eatery}
cenar = have dinner ; ir de compras = go shopping ; hacer una excursión a {city} = go on a trip to {city}
montar en bicicleta = ride a bike

verb departure:
<outing
coger {el line} a {city} = take {the line} to {city} / catch {the line} to {city}
salir para {anycity} = leave for {anycity} ; dejar el hotel = leave the hotel ; ir al aeropuerto = go to the airport

verb leisureact:  # likings
viajar = travel ; bailar = dance ; cocinar = cook ; leer = read ; nadar = swim ; pasear {stroll} = walk {stroll}
tomar el sol = sunbathe ; ir {al leisure} = go to {the leisure} ; sacar fotos = take photos / take pictures
jugar {sport} = play {sport} ; montar en bicicleta = ride a bike ; ir de compras = go shopping
conducir de noche = drive at night ; viajar {journey} = travel {journey} ; comer en restaurantes = eat in restaurants
visitar museos = visit museums ; conocer gente nueva = meet new people ; cenar tarde = have dinner late
dormir la siesta = take a nap ; levantarse temprano = get up early ; cantar = sing ; llevar sombrero = wear a hat
tomar café = drink coffee ; esperar = wait ; hablar español = speak spanish

verb chore:  # what one has to do before or after something
cambiar dinero = change some money ; comprar un billete = buy a ticket ; hacer la maleta = pack the suitcase
llamar a {person} = call {person} / phone {person} ; pagar la cuenta = pay the bill ; descansar un poco = rest a little
sacar dinero = withdraw some money / get some money ; dejar la llave en recepción = leave the key at reception
reservar mesa = book a table ; ir al banco = go to the bank ; ducharse = have a shower
recoger {mi@who luggage} = pick up {my@who luggage} ; comprar el periódico = buy the newspaper
sacar las entradas = get the tickets / buy the tickets ; enviar un correo = send an email
buscar un hotel = look for a hotel

noun cash:
2* m banco = bank ; m cajero = cash machine / atm

phrase lostin:
en el casco antiguo = in the old town ; en el metro = in the underground / in the subway ; en el mercado = at the market
en {city} = in {city} ; en el parque = in the park ; en el bosque = in the forest ; en la montaña = in the mountains

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

adj unfit:
enfermo = ill / sick ; muy ~cansado = very tired ; mareado = dizzy ; ocupado = busy

phrase badweather:
llovía = it was raining ; hacía demasiado frío = it was too cold ; hacía mal tiempo = the weather was bad
hacía mucho viento = it was very windy ; estaba nevando = it was snowing

phrase moneyexcuse:
era demasiado caro = it was too expensive ; no tener.impf@who dinero = i@who did n't have any money
no encontrar.impf@who {mi@who bankcard} = i@who could n't find {my@who bankcard}
la tienda estaba cerrada = the shop was closed

phrase excuse:
no tener.impf@who tiempo = i@who did n't have time ; no poder.impf@who esperar = i@who could n't wait
2* estar.impf@who {unfit@who} = i@who be.past@who {unfit} ; había demasiada gente = there were too many people
era demasiado tarde = it was too late ; perder.pret@who el autobús = i@who missed the bus
tener.impf@who prisa = i@who be.past@who in a hurry

phrase dayfut:
3* mañana = tomorrow ; el {day} = on {day} ; este fin de semana = this weekend ; la semana que viene = next week
pasado mañana = the day after tomorrow

phrase pastday:
ayer = yesterday ; anteayer = the day before yesterday ; el {day} pasado = last {day} ; la semana pasada = last week

phrase wxbase:
calor = hot ; frío = cold ; viento = windy ; sol = sunny

phrase wx:  # with hacer
calor = hot ; frío = cold ; viento = windy ; sol = sunny ; mucho calor = very hot ; mucho frío = very cold
mucho viento = very windy ; fresco = cool / chilly

verb rain:
2* llover = rain ; nevar = snow

phrase summery:
verano = summer ; julio = july ; agosto = august

phrase seasonwx:
hace mucho frío en invierno = it is very cold in winter ; hace mucho calor en verano = it is very hot in summer
llueve mucho en otoño = it rains a lot in autumn ; hace buen tiempo en primavera = the weather is good in spring
nieva a menudo en invierno = it often snows in winter ; hace viento en otoño = it is windy in autumn

verb visiting:
visitar = visit ; ver = see

verb outdoor:
ir a la playa = go to the beach ; bañarse en {water} = swim in {water} ; tomar el sol = sunbathe
montar en bicicleta = ride a bike ; jugar {ballgame} = play {ballgame} ; dar un paseo {stroll} = take a walk {stroll}
comer fuera = eat outside

verb sunny:
<outdoor
hacer una excursión a {city} = go on a trip to {city} ; alquilar un barco = rent a boat / hire a boat
visitar {el sight} = visit {the sight} ; pasar el día en la playa = spend the day on the beach
subir a la torre = go up the tower

phrase ballgame:
al tenis = tennis ; al fútbol = football / soccer ; al golf = golf ; al voleibol = volleyball

phrase weathergood:
muy buen = the weather is very good ; muy mal = the weather is very bad
buen = the weather is good / it is good weather ; mal = the weather is bad

noun performancetwo:
f película = film / movie ; m partido = match / game ; m espectáculo de flamenco = flamenco show
f exposición = exhibition

phrase performance:
el concierto = the concert ; la ópera = the opera ; el partido = the match / the game ; la obra de teatro = the play
el museo = the museum ; la corrida de toros = the bullfight ; el festival = the festival
el espectáculo de flamenco = the flamenco show

noun openable:
<shop
<museum

phrase hours:
abre a {opening} = opens at {opening} ; cierra a {closing} = closes at {closing}

phrase opening:
las {hopening} = {hopening} / {hopening} o'clock ; las {hopening} y media = half past {hopening}
las {hopening} de la mañana = {hopening} in the morning

phrase hopening:
ocho = eight ; nueve = nine ; diez = ten

phrase closing:
las {hclosing} = {hclosing} / {hclosing} o'clock ; las {hclosing} y media = half past {hclosing}
las {hclosing} de la tarde = {hclosing} in the evening ; las {hclosing} y cuarto = a quarter past {hclosing}

phrase hclosing:
seis = six ; siete = seven ; ocho = eight

phrase bankclosing:
la una y media = half past one ; las dos = two o'clock / two ; las dos y media = half past two
las tres menos cuarto = a quarter to three ; las tres = three o'clock / three

phrase closeddays:
2* los {days} = on {days} ; hoy = today ; mañana = tomorrow ; en {month} = in {month} ; esta semana = this week

phrase opendays:
los {days} = on {days} ; todos los días = every day ; hoy = today ; mañana = tomorrow
los fines de semana = at weekends / on weekends

phrase group:
estudiantes = students ; niños = children ; jubilados = pensioners / senior citizens ; grupos = groups
familias = families ; profesores = teachers

phrase photowhere:
aquí = here ; dentro = inside ; en {el museum} = in {the museum} ; aquí dentro = in here

phrase photospot:
delante {del sight} = in front of {the sight} ; aquí = here ; con {family} = with {family} ; en la playa = on the beach

phrase centuryth:
doce = twelfth ; trece = thirteenth ; catorce = fourteenth ; quince = fifteenth ; dieciséis = sixteenth
diecisiete = seventeenth ; dieciocho = eighteenth ; diecinueve = nineteenth ; once = eleventh

adj sightadj:
antiguo = old / ancient ; bonito = beautiful ; famoso = famous ; impresionante = impressive ; interesante = interesting
grande = big / large ; moderno = modern

noun viewpoint:
f torre = tower ; m castillo = castle ; m faro = lighthouse ; m mirador = viewpoint ; f terraza = terrace
m puente = bridge ; f muralla = city wall ; f montaña = mountain

phrase viewadj:
preciosas = beautiful ; maravillosas = wonderful ; impresionantes = breathtaking / impressive
espectaculares = spectacular

noun parent:
m padre = father ; f madre = mother ; f abuela = grandmother ; m abuelo = grandfather

phrase dogtime:
todas las mañanas = every morning ; todas las noches = every night ; tres veces al día = three times a day
después de cenar = after dinner

noun friend:
m marido = husband ; f mujer = wife ; m padre = father ; f madre = mother ; m amigo = friend ; f amiga = friend
m profesor = teacher

noun kin:
m hijo = son ; f hija = daughter ; m hermano = brother ; f hermana = sister ; m perro = dog ; m marido = husband
f mujer = wife ; m padre = father ; f madre = mother ; m jefe = boss

noun kinm:
m hijo = son ; m hermano = brother ; m abuelo = grandfather ; m tío = uncle ; m vecino = neighbour ; m primo = cousin
m jefe = boss

noun kinf:
f hija = daughter ; f hermana = sister ; f abuela = grandmother ; f tía = aunt ; f vecina = neighbour ; f prima = cousin
f jefa = boss

noun child:
m hijo = son ; f hija = daughter ; m sobrino = nephew ; f sobrina = niece ; m nieto = grandson ; f nieta = granddaughter

phrase origin:
{anycity} ; {country}

phrase subject:
medicina = medicine ; 2* derecho = law ; historia = history ; arquitectura = architecture ; economía = economics
biología = biology ; bellas artes = fine arts ; música = music ; filosofía = philosophy ; química = chemistry

phrase dayspan:
2* días = days ; semanas = weeks ; meses = months ; años = years

phrase longspan:
semanas = weeks ; meses = months ; años = years

verb lasting:
vivir en {city} = live in {city} ; aprender {language} = learn {language} ; trabajar en {workplace} = work {workplace}
viajar por {country} = travel around {country} ; buscar {un flat} en {city} = look for {a flat} in {city}

phrase seenwhere:
{past} en {el leisure} = at {the leisure} {past} ; en el mercado = at the market
sentado@person en un banco = sitting on a bench ; en la cola = in the queue ; en la estación = at the station

phrase invited:
cenar = to dinner ; comer = to lunch ; tomar {un softly} = for {a softly} ; una fiesta = to a party
una boda = to a wedding

phrase hope:
haga buen tiempo {dayfut} = the weather is good {dayfut} ; no llueva {dayfut} = it does n't rain {dayfut}
le guste {el gift} = you like {the gift} ; lleguemos a tiempo = we arrive on time / we get there on time
{el line} llegue a tiempo = {the line} arrives on time
venir.subj@family {family} {future} = {family} come.pres@family {future} ; se mejore pronto = you get better soon
encontrar.subj@family {family} {un flat} = {family} find.pres@family {a flat}

phrase meetwhere:
en {el office} = at {the office} ; en la entrada {del museum} = at the entrance to {the museum}
delante {del sight} = in front of {the sight}

phrase thanks:
2* gracias = thank you / thanks ; muchas gracias = thank you very much / many thanks

phrase thanksfor:
su ayuda = your help ; todo = everything ; {el gift} = {the gift} ; la cena = dinner ; la invitación = the invitation
su paciencia = your patience ; {el written} = {the written} ; la información = the information ; su visita = your visit
venir = coming

phrase lateto:
al trabajo = work ; a la cena = dinner ; a la reunión = the meeting ; al concierto = the concert ; a clase = class
a la boda = the wedding

phrase clause:
{el museum} está cerrado@museum {closeddays} = {the museum} is closed {closeddays}
{el line} de {city} llega tarde = {the line} from {city} is late
{someone} hablar.pres@someone {language} = {someone} speak.pres@someone {language}
{dayfut} va a {rain} = it is going to {rain} {dayfut} ; {el landmark} está {locate} = {the landmark} is {locate}
{someone} estar.pres@someone {mood@someone} = {someone} be.pres@someone {mood}
{el openable} {hours} = {the openable} {hours}
{someone} trabajar.pres@someone en {workplace} = {someone} work.pres@someone {workplace}
{someone} llegar.pres@someone {future} = {someone} be.pres@someone arriving {future} ; {foodfault} = {foodfault}
{someone} perder.perf@someone {mi@someone valuable} = {someone} lose.perf@someone {my@someone valuable}
{someone} {act.pret@someone} {past} = {someone} {act.past@someone} {past}
el vuelo a {abroad} sale de la puerta {platform} = the flight to {abroad} leaves from gate {platform}
{el dest} está a {minutes} minutos {intown} = {the dest} is {minutes} minutes away {intown}

phrase clausepast:
{el museum} estaba cerrado@museum = {the museum} was closed ; era tan tarde = it was so late
no llevar.impf@who {mi@who valuable} = i@who did n't have {my@who valuable} with me@who ; llovía = it was raining
{el ride} ya había salido = {the ride} had already left

adj trait:  # ser
listo = clever / smart ; aburrido = boring ; simpático = nice / friendly ; amable = kind ; inteligente = intelligent
alegre = cheerful ; trabajador = hard-working ; tímido = shy ; divertido = funny ; alto = tall ; joven = young
educado = polite

phrase fixed:
no entiendo = i do n't understand ; no lo sé = i do n't know ; de acuerdo , gracias = all right , thank you
no pasa nada = it does n't matter ; no hay de qué = you are welcome / do n't mention it
lo siento mucho = i am very sorry ; mucho gusto en conocerle = pleased to meet you ; hasta mañana = see you tomorrow
hasta luego = see you later ; no , gracias , eso es todo = no , thank you , that is all
que aproveche = enjoy your meal ; buen viaje = have a good trip ; feliz cumpleaños = happy birthday
me da igual = i do n't mind ; tiene razón = you are right ; encantado de conocerle = nice to meet you
encantada de conocerla = nice to meet you ; no tengo ni idea = i have no idea ; ya es tarde = it is already late
tenemos mucha prisa = we are in a big hurry ; estoy aquí de vacaciones = i am here on holiday / i am here on vacation
solo estoy mirando = i am just looking ; es un placer = it is a pleasure ; pase , por favor = come in , please
espere un momento = wait a moment / just a moment ; tenga cuidado = be careful ; que tenga un buen día = have a nice day
buenas noches y hasta mañana = good night and see you tomorrow

phrase fixedask:
qué tal está = how are you ; habla inglés = do you speak english
puede ayudarme / me puede ayudar = can you help me / could you help me ; qué pasa = what is happening
algo más = anything else ; puede repetir eso = can you repeat that / could you say that again ; me oye = can you hear me
está seguro = are you sure ; puedo pasar = can i come in ; quién es usted = who are you ; qué es esto = what is this
cuánto es = how much is it ; está ocupado = is it taken ; habla alguien inglés = does anyone speak english

phrase nowclock:
son las {hour} (en punto|) = {hour} o'clock ; son las {hour} y media = half past {hour}
son las {hour} y cuarto = a quarter past {hour} ; son las {hour} menos cuarto = a quarter to {hour}
es la una y diez = ten past one ; son las {hour} y diez = ten past {hour}
son las {hour} menos {mins} = {mins} to {hour} ; son las {hour} de la mañana = {hour} in the morning
es la una = one o'clock ; son las {hour} y {mins} = {mins} past {hour}

phrase mins:
cinco = five ; diez = ten ; veinte = twenty ; veinticinco = twenty-five

noun event:
m concierto = concert ; f película = film / movie ; m partido = match / game ; f reunión = meeting
f obra de teatro = play ; f visita ~guiada = guided tour ; f clase de {language} = {language} class
f excursión = trip / excursion ; f fiesta = party ; f cena = dinner ; f boda = wedding ; m espectáculo = show
f conferencia = lecture

verb begin:
empezar = start / begin ; terminar / acabar = end / finish

phrase lasts:
una hora = an hour / one hour ; una hora y media = an hour and a half ; dos horas = two hours
hora y media = an hour and a half ; tres horas = three hours ; cuatro horas = four hours
dos horas y media = two and a half hours
"""

LEXICON = (PEOPLE, PLACES, TIME, HOTEL, FOOD, TRAVEL, SHOPPING, HEALTH, DOINGS)
