"""The sentences, by topic.

Each line starts with how it is said: ``.`` a statement, ``?`` a question to a stranger, ``.!`` and ``?!`` the same as
requests, which may come with a please, ``,`` an order, ``??`` a question to anybody, ``!`` an exclamation, and ``:`` a
sentence that is complete as it stands. The rest is an entry as ``grammar`` describes it.
"""

FRAMES = {
    ".": "%s . = %s .",
    "??": "¿ %s ? = %s ?",
    "?": "{opener} ¿ %s ? = {opener} %s ?",
    ".!": "{opener} %s {please} . = {opener} %s {please} .",
    ",": "%s {please} . = %s {please} .",
    "?!": "{opener} ¿ %s {please} ? = {opener} %s {please} ?",
    "!": "¡ %s ! = %s !",
    ":": "%s = %s",
}

PARTS = """
phrase opener:
14* _ = _ ; 2* perdone , = excuse me , ; disculpe , = excuse me , ; buenos días , = good morning ,
buenas tardes , = good afternoon , ; hola , = hello , / hi , ; oiga , = excuse me ,

phrase please:
2* _ = _ ; , por favor = , please

person want:  # before a noun
3* 1s quisiera / querría / desearía = i would like ; 1s quiero = i would like / i want
1p queríamos / quisiéramos / desearíamos = we would like ; 1p queremos = we would like / we want

person wantto:  # before an infinitive
2* 1s quisiera / querría / me gustaría = i would like to ; 1s quiero = i would like to / i want to
1p queríamos / quisiéramos / nos gustaría = we would like to ; 1p queremos = we would like to / we want to

person bring:
2* 1s me trae / me puede traer / me podría traer / puede traerme / podría traerme
  = can you bring me / could you bring me
1p nos trae / nos puede traer / nos podría traer / puede traernos = can you bring us / could you bring us

person show:
2* 1s me enseña / me puede enseñar / puede enseñarme / podría enseñarme = can you show me / could you show me
1p nos puede enseñar / nos enseña / podría enseñarnos = can you show us / could you show us

person give:
2* 1s me da / me puede dar / me podría dar / puede darme = can you give me / could you give me
1p nos da / nos puede dar / podría darnos = can you give us / could you give us

person tell:
2* 1s me puede decir / puede decirme / podría decirme / me podría decir = can you tell me / could you tell me
1p nos puede decir / podría decirnos = can you tell us / could you tell us

person take:
2* 1s me puede llevar / puede llevarme / me lleva / podría llevarme = can you take me / could you take me
1p nos puede llevar / puede llevarnos / nos lleva = can you take us / could you take us

person takeimp:
1s lléveme = take me ; 1p llévenos = take us

person carry:
2* 1s me puede llevar / puede llevarme / me puede subir = can you take / could you take
1p nos puede llevar / puede llevarnos / nos puede subir = can you take / could you take

person wake:
2* 1s me puede despertar / puede despertarme / podría despertarme = can you wake me up / could you wake me up
1p nos puede despertar / podría despertarnos = can you wake us up / could you wake us up

person photograph:
1s me puede sacar / puede sacarme / me saca / podría hacerme
  = can you take a picture of me / could you take a photo of me
1p nos puede sacar / puede sacarnos / nos saca / podría hacernos
  = can you take a picture of us / could you take a photo of us

person we:
1p _ = we

person me:
1s _ = me

noun it:  # what was talked about before
m _ = it ; f _ = it ; mp _ = them ; fp _ = them

phrase today:
hoy = today

phrase yet:
todavía / aún = yet

phrase very:
2* muy = very ; bastante = quite ; demasiado = too

phrase verywell:
2* muy = very ; bastante = quite ; realmente = really

phrase inbank:
en este banco = at this bank ; en euros = in euros ; a mi nombre = in my name

phrase inprice:
en el precio = in the price ; en la cuenta = in the bill

phrase soon:
ahora = now ; mañana = tomorrow ; más tarde = later ; esta tarde = this afternoon ; después = afterwards / later

phrase inlocal:
cerca de aquí = near here ; por aquí = around here ; en el centro = in the city centre
en este barrio = in this neighbourhood
cerca de la estación = near the station ; cerca del hotel = near the hotel

verb openclose:
abrir = open ; cerrar = close

phrase believe:
3* creo que = i think / i think that ; me han dicho que = i was told that / they told me that
dicen que = they say that / they say ; parece que = it seems that / it looks like

phrase regularly:
todos los días = every day ; 2* los {days} = on {days} ; cada semana = every week ; todas las semanas = every week

phrase since:
desde ayer = since yesterday ; desde el {day} = since {day} ; desde hace {few} días = for {few} days
desde esta mañana = since this morning ; desde anoche = since last night

person patient:  # one person
6* 1s (|||yo) = i
<relative
3m {boy} = {boy} ; 3f {girl} = {girl} ; 3m él = he ; 3f ella = she
"""

HOTEL = """
.! {want} {un roomkind} {roomwith?} para {few} noches = {want} {a roomkind} {roomwith} for {few} nights
.! {want} {un roomkind} {fornight} = {want} {a roomkind} {fornight}
.! {wantto} reservar {un roomkind} {fornight?} = {wantto} (book|reserve) {a roomkind} {fornight}
.! {wantto} reservar {un roomkind} {roomwith} = {wantto} (book|reserve) {a roomkind} {roomwith}
? (tienen|tiene) {un roomkind} (libre|disponible) {fornight?} = do you have {a roomkind} (free|available) {fornight}
? (tienen|les quedan) habitaciones libres {fornight?}
  = do you have any (vacancies|rooms free|rooms available) {fornight}
? (tienen|tiene) {un room} más {roomadj@room} = do you have a {roomadj.er} {room}
. {iwe} tener.pres@iwe una reserva a nombre de {surname} = {iwe} have a (reservation|booking) in the name of {surname}
. reservar.perf@iwe {un roomkind} {roomwith?} = {iwe} (book.perf@iwe|reserve.perf@iwe) {a roomkind} {roomwith}
? cuánto cuesta {un roomkind} (por noche|la noche) = how much is {a roomkind} (per|a) night
? está incluido el desayuno {inprice?} = is breakfast included {inprice}
? a qué hora (sirven|se sirve|es) {el meal} = what time (is {meal} served|do you serve {meal}|is {meal})
. el desayuno se sirve (a partir de|desde) {early} = breakfast is served from {early} (on|)
. la cena se sirve (a partir de|desde) {evening} = dinner is served from {evening} (on|)
? poder.pres@iwe dejar {mi@iwe luggage} {leftat} {until?} = can {iwe} leave {my@iwe luggage} {leftat} {until}
.! {wantto} dejar la habitación {future} = {wantto} check out {future}
? a qué hora (hay que|tenemos que) dejar la habitación = what time do we have to (check out|leave the room)
. {el faulty} de {mi@iwe room} no funciona = {the faulty} in {my@iwe room} (does n't work|is n't working)
. {el device} de {mi@iwe room} está (roto@device|averiado@device|estropeado@device)
  = {the device} in {my@iwe room} is (broken|out of order)
. no hay {lacking} en {mi@iwe room} = there (be.pres@lacking no|be.pres@lacking n't any) {lacking} in {my@iwe room}
? por qué no hay {lacking} = why (be.pres@lacking there no|be.pres@lacking n't there any) {lacking}
. falta {un bringitem} en {mi@iwe room} = there is {a bringitem} missing in {my@iwe room}
?! {bring} {otro bringitem} = {bring} another {bringitem}
?! {bring} {un bringitem} {toroom?} = {bring} {a bringitem} {toroom}
: necesitar.pres@iwe {un bringitem} . ¿ les@iwe lo@bringitem (puede|podría) traer ?
  = {iwe} need {a bringitem} . (can|could) you bring it@bringitem to me@iwe ?
? (me lo@it puede traer|puede traérmelo@it|me lo@it podría traer) {soon?} = (can|could) you bring {it} to me {soon}
? (me lo@it puede enviar|podría enviármelo@it) al hotel = (can|could) you send {it} to me at the hotel
? (nos lo@it puede subir|puede subírnoslo@it) a la habitación = (can|could) you bring {it} up to our room
? (me lo@it puede explicar|puede explicármelo@it) {langhelp?} = (can|could) you explain {it} to me {langhelp}
? {wake} {wakeday?} a {early} = {wake} {wakeday} at {early}
. la habitación {roomnum} está en {floor} = room {roomnum} is on {floor}
?! {give} la llave de la habitación {roomnum} = {give} the key to room {roomnum}
. {mi@iwe room} es {very} {roombad@room} = {my@iwe room} is {very} {roombad}
. {el cleanable} estar.pres@cleanable {verywell?} {clean@cleanable}
  = {the cleanable} be.pres@cleanable {verywell} {clean}
. {mi@iwe room} da {overlook} = {my@iwe room} (overlooks|looks onto) {overlook}
. preferir.pres@iwe {un room} que dé {overlook}
  = {iwe} (would prefer|prefer) a {room} (overlooking|that overlooks) {overlook}
. {who} no poder.perf@who dormir por {noise} = {who} could n't sleep because of {noise}
? {carry} {el luggage} (a la habitación|al cuarto) = {carry} {my@carry luggage} to the room
? hay {un facility} en el hotel = (is there {a facility} in the hotel|does the hotel have {a facility})
. {el hotelpart} estar.pres@hotelpart {inside} = {the hotelpart} be.pres@hotelpart {inside}
? dónde estar.pres@hotelpart {el hotelpart} = where be.pres@hotelpart {the hotelpart}
? a qué hora {openclose.pres@hotelopen} {el hotelopen} = what time does {the hotelopen} {openclose}
. el hotel está completo {fullfor} = the hotel is (full|fully booked) {fullfor}
. {who} alojarse.pres@who en el hotel {hotelname} = {who} be.pres@who staying at the {hotelname} hotel
? (puede|podría) recomendarme {un hotelword} {hoteladj@hotelword} {inlocal?}
  = (can|could) you recommend a {hoteladj} {hotelword} {inlocal}
.! {wantto} cambiar de (habitación|cuarto) = {wantto} change rooms
. {who} ir.pres@who a quedarse.inf@who {few} {nightsdays} {stayin?}
  = {who} be.pres@who going to stay (for|) {few} {nightsdays} {stayin}
. quedarse.pres@iwe hasta el {day} = {iwe} be.pres@iwe staying until {day}
, firme aquí = sign here
, rellene este formulario = fill in this form
. necesito {mi@polite paper} = i need {my@polite paper}
? (me deja|me puede dejar|puede dejarme) {un lend} = (can|could) you lend me {a lend}
. {who} (dejar.pret@who|dejar.perf@who) {mi@who valuable} {leftplace} = {who} left {my@who valuable} {leftplace}
. se me haber.pres@valuable perdido {el valuable} = (i 've lost|i lost) my {valuable}
. {someone} dejar.pret@someone la habitación sin pagar la cuenta = {someone} left the room without paying the bill
?! (puede|podría) {turnonoff} {el appliance} = (can|could) you {turnonoff} {the appliance}
. {el appliance} ya está (encendido@appliance|puesto@appliance) = {the appliance} is already on
"""

FLAT = """
? hay sitio para una tienda {tentwhere} = is there (space|room) for a tent {tentwhere}
. {who} dormir.pret@who en una tienda {tentwhere} = {who} slept in a tent {tentwhere}
. {mi@iwe tented} está {tentwhere} = {my@iwe tented} is {tentwhere}
. {who} buscar.pres@who {un flat} {flatadj@flat} {locflat?} = {who} be.pres@who looking for a {flatadj} {flat} {locflat}
. {who} vivir.pres@who en {un flat} {flatadj@flat} {locflat?} = {who} live.pres@who in a {flatadj} {flat} {locflat}
. {who} vivir.pres@who en {el road} = {who} live.pres@who on {road}
? cuánto (es|cuesta) el alquiler de {este flat} = how much is the rent for {this flat}
. {mi@iwe flat} tiene {few} habitaciones y un balcón = {my@iwe flat} has {few} rooms and a balcony
. {mi@iwe flat} está en {floor} = {my@iwe flat} is on {floor}
. {family} vivir.pres@family en {floor} = {family} live.pres@family on {floor}
. {someone} alquilar.perf@someone {un flat} cerca {del office}
  = {someone} (rent.perf@someone|rented) {a flat} near {the office}
. los vecinos del {nth} piso hacen mucho ruido = the neighbours on the {nth} floor make a lot of noise
. {family} regar.pres@family las plantas los {days} = {family} water.pres@family the plants on {days}
"""

RESTAURANT = """
.! {want} una mesa para {guests} (personas|) {tablewhere?} = {want} a table for {guests} (people|) {tablewhere}
.! {wantto} reservar una mesa para {guests} {dinnerday} a {evening}
  = {wantto} (book|reserve) a table for {guests} {dinnerday} at {evening}
. tener.pres@iwe una mesa reservada a nombre de {surname}
  = {iwe} have a table (booked|reserved) in the name of {surname}
? (tienen|tiene) una mesa libre para {guests} {tablewhere?} = do you have a free table for {guests} {tablewhere}
2* ?! {bring} {el served} = {bring} {the served}
: {opener} {el served} , por favor . = {opener} {the served} , please .
? qué (me|nos) recomienda = what do you recommend
.! {wantto} pedir {el dish} = {wantto} order {the dish}
? (podemos pedir|se puede pedir) ya = can we order now
.! {wantto} pedir {el served} = {wantto} ask for {the served}
? cuál es el plato del día = what is (the dish of the day|today 's special)
? qué llevar.pres@cooked {el cooked} = what is in {the cooked}
? llevar.pres@cooked {ingredient} {el cooked} = is there (any|) {ingredient} in {the cooked}
, para mí , {el dish} = (for me , {the dish}|{the dish} for me)
. para {family} , {el dish} = {the dish} for {family}
. (yo|) (tomaré|voy a tomar) {el dish} = (i will have|i am going to have) {the dish}
. de primero {el starter} y de segundo {el main} = {the starter} to start and then {the main}
, de postre , {un dessert} = for dessert , {a dessert}
, para beber , {un drink} = to drink , {a drink}
?! me pone {un drink} = (can|could) i have {a drink}
?! nos pone {few} {beverage+} = (can|could) we have {few} {beverage+}
.! {want} {un drink} = {want} {a drink}
.! {want} {un portion} = {want} {a portion}
.! {want} {un portion} y {un drink} = {want} {a portion} and {a drink}
?? pedir.perf@polite ya {polite} = have {polite} (already ordered|ordered yet)
?? qué ir.pres@polite a (tomar|pedir) {polite} = what (will you have|would you like)
?? qué querer.pres@polite beber {polite} = what would {polite} like to drink
. yo no (pedí|he pedido) {este portion} = i did n't order {this portion}
. {who} pedir.pret@who {un portion} y {un drink} = {who} ordered {a portion} and {a drink}
. {someone} pedir.perf@someone {el dish} = {someone} order.perf@someone {the dish}
. {who} pedir.pret@who la cuenta hace {minutes} minutos = {who} asked for the (bill|check) {minutes} minutes ago
. {someone} pedir.pret@someone la cuenta a {waiter} = {someone} asked {waiter} for the (bill|check)
2* . {foodfault} = {foodfault}
: oiga , {foodfault} . = excuse me , {foodfault} .
. {el dish} estar.pres@dish {tasty@dish} = {the dish} be.pres@dish {tasty}
. {el dish} estar.impf@dish {tasty@dish} = {the dish} be.past@dish {tasty}
! qué {tastyword@tasted} estar.pres@tasted {el tasted} = how {tastyword} {the tasted} be.pres@tasted
. me falta {un cutlery} = (i am missing {a cutlery}|i do n't have {a cutlery})
. faltan {few} {cutlery+} = there are {few} {cutlery+} missing
?! {bring} {otro cutlery} = {bring} another {cutlery}
?! {bring} más {seasoning} = {bring} (some more|a bit more) {seasoning}
?! {bring} un poco de {seasoning} = {bring} (some|a little) {seasoning}
?! (me pasa|me puede pasar|puede pasarme) {el seasoning} = (can|could) you pass me {the seasoning}
. {who} ser.pres@who alérgico@who a {allergen} = {who} be.pres@who allergic to {allergen}
. {who} ser.pres@who vegetariano@who = {who} be.pres@who vegetarian
. {who} no poder.pres@who comer {noeat} = {who} ca n't eat {noeat}
. {who} (nunca comer.pres@who|no comer.pres@who nunca) {noeat} = {who} never eat.pres@who {noeat}
, {el meat} muy hecho@meat = {the meat} well done
, {el meat} poco hecho@meat = {the meat} rare
, {el meat} en su punto = {the meat} medium
?? cómo (quiere|prefiere) {el meat} = how would you like {the meat}
? está incluido el servicio {inprice} = is service included {inprice}
? dónde está el servicio = where is the (toilet|restroom)
? dónde están los servicios = where are the (toilets|restrooms)
. el servicio (de|en) {este eatword} es {verywell} {serviceadj}
  = the service (in|at) {this eatword} is {verywell} {serviceadj}
. hay un error en la cuenta = there is a mistake in the (bill|check)
? (puedo|se puede) pagar {paymode} = can i pay {paymode}
. ir.pres@iwe a pagar {paymode} = {iwe} be.pres@iwe going to pay {paymode}
: quédese con la vuelta . = keep the change .
. esta vez (pago|invito) yo = (i will pay this time|this time it is on me)
2* ?? querer.pres@you tomar {un softly} {soon?} = (do {you} want to have|would {you} like) {a softly} {soon}
. vamos a tomar {un softly} en {un eatery} = let 's have {a softly} in {a eatery}
? conoce un buen {eatword} {inlocal} = do you know a good {eatword} {inlocal}
? conoce un restaurante {cuisine} {inlocal} = do you know a {cuisine} restaurant {inlocal}
? hay un restaurante {cuisine} (cerca de aquí|por aquí) = is there a {cuisine} restaurant (near here|around here)
. {worker} ser.pret@worker muy (amable|simpático@worker) con nosotros = {worker} was very (kind|nice|friendly) to us
. {who} dejar.pret@who una buena propina {atipped} = {who} left {atipped} a good tip
. {who} tener.pres@who {feeling} = {who} be.pres@who {feeling}
. {who} tener.pres@who {bigfeeling} = {who} be.pres@who {bigfeeling}
?? tener.pres@you {feeling} {you} = are {you} {feeling}
?! me (da|puede dar) la receta {del cooked} = can you give me the recipe for {the cooked}
. {family} poner.pres@family la mesa mientras yo preparo la cena
  = {family} set.pres@family the table while i (make|prepare) dinner
?? qué hay para {mealtime} = what is there for {mealtime}
"""

MARKET = """
.! {want} {weight} de {produce+} = {want} {weight} of {produce+}
? a cuánto están {el produce+} {today?} = how much are {the produce+} {today}
? cuánto (cuesta|vale) {weight} de {produce+} = how much is {weight} of {produce+}
3* . {este fruit*} (todavía|aún) estar.pres@fruit* verde@fruit* = {this fruit*} be.pres@fruit* still (unripe|green)
. {el fruit+} de {orchard} son {verywell} {fruitadj@fruit+} = the {fruit+} from {orchard} are {verywell} {fruitadj}
. ya no quedan {produce+} = there are no {produce+} left
. no queda {seasoning} en la cocina = there is no {seasoning} left in the kitchen
. {who} comprar.pret@who {weight} de {produce+} en el mercado = {who} bought {weight} of {produce+} at the market
.! (póngame|deme) {weight} de {produce+} = give me {weight} of {produce+}
"""

TRANSPORT = """
? (a qué hora|cuándo) sale {el line} (para|a) {city} = (what time|when) does {the line} to {city} leave
? (a qué hora|cuándo) llega {el line} de {city} = (what time|when) does {the line} from {city} arrive
? a qué hora sale {el próximo line} (para|a) {city} = what time does the next {line} (to|for) {city} leave
? a qué hora sale {el último line} para {city} = what time does the last {line} (to|for) {city} leave
? cuánto cuesta un billete {fare} (a|para) {city} = how much is a {fare} ticket to {city}
.! {want} un billete {fare?} (a|para) {city} = {want} a {fare} ticket to {city}
.! {want} un billete a {city} para {forday} = {want} a ticket to {city} for {forday}
.! {want} {few} billetes {fares?} para {city} = {want} {few} {fares} tickets to {city}
.! {wantto} sacar un billete (para|a) {city} = {wantto} (buy|get) a ticket to {city}
. {who} sacar.perf@who los billetes para {city} = {who} (buy.perf@who|bought|got) the tickets to {city}
? de qué andén sale el tren (para|a) {city} = which platform does the train to {city} leave from
. el tren para {city} sale del andén {platform} = the train to {city} leaves from platform {platform}
. {el line} para {city} sale a {clock} = {the line} to {city} leaves at {clock}
. {el line} de {city} llega con {lateby} de retraso = {the line} from {city} is {lateby} late
. {el line} de {city} llega {lateby} tarde = {the line} from {city} is {lateby} late
. {el line} de {city} llega tarde = {the line} from {city} is late
. {el line} para {city} ya ha salido = {the line} to {city} has already left
. {el line} para {city} está a punto de salir = {the line} to {city} is about to leave
? cuánto se tarda de {city} a {city2} {journey} = how long does it take from {city} to {city2} {journey}
? cuánto dura el viaje a {city} {journey?} = how long is the (trip|journey) to {city} {journey}
. el viaje a {city} dura {few} horas = the (trip|journey) to {city} takes {few} hours
. tardamos {few} horas en llegar a {city} = it took us {few} hours to get to {city}
? {este line} para en {city} = does {this line} stop in {city}
. {este line} no para en {city} = {this line} does n't stop in {city}
. el tren no para en esta estación = the train does n't stop at this station
? (hay que|tengo que) cambiar de tren en {city} = do i have to change trains in {city}
. (hay que|tiene que) (cambiar de tren|hacer transbordo) en {city} = you have to change trains in {city}
. la próxima {stopname} es {city} = the next {stopname} is {city}
? está {seatstate} este asiento = is this seat {seatstate}
. {who} perder.perf@who {el missed} = {who} (miss.perf@who|missed) {the missed}
. {who} perder.pret@who {el missed} {latecause} = {who} missed {the missed} {latecause}
. si no nos damos prisa , vamos a perder {el missed} = if we do n't hurry , we (will|are going to) miss {the missed}
. {who} perder.pret@who {el ride} y tener.pret@who que coger un taxi
  = {who} missed {the ride} and had to take a taxi
. {who} (coger.pret@who|tomar.pret@who) {ridden} para ir {al dest} = {who} took {ridden} to {the dest}
. para ir {al dest} , (tome|coja) {ridden} = to (get|go) to {the dest} , take {ridden}
. {someone} (coger.pres@someone|tomar.pres@someone) {ridden} {regularly}
  = {someone} take.pres@someone {ridden} {regularly}
? dónde puedo (coger|tomar) {un catch} = where can i (get|catch|take) {a catch}
? {este bus} va {al dest} = does {this bus} go to {the dest}
? qué {bus} va {al dest} = which {bus} goes to {the dest}
? qué línea de metro va {al dest} = which (metro|underground|subway) line goes to {the dest}
. la línea {linenum} va {al dest} = line {linenum} goes to {the dest}
. {el bus} {linenum} para {locate} = {bus} {linenum} stops {locate}
? dónde (tengo que bajar|debo bajarme) para ir {al dest} = where (do i have to|should i) get off to go to {the dest}
. (bájese|tiene que bajarse) en la {nextstop} parada = (get off|you have to get off) at the {nextstop} stop
?! {take} {al dest} = {take} to {the dest}
, {takeimp} {al dest} = {takeimp} to {the dest}
, {takeimp} {al road} , número {linenum} = {takeimp} to {linenum} {road}
, pare {stopat} = stop {stopat}
? cuánto (cuesta|es) un taxi {al dest} = how much is a taxi to {the dest}
.! {wantto} alquilar {un hire} {hiretime} = {wantto} (rent|hire) {a hire} {hiretime}
? cuánto cuesta alquilar {un hire} (al día|por día) = how much does it cost to (rent|hire) {a hire} (per day|for a day)
. {who} alquilar.pret@who {un hired} para ir a {city} = {who} (rented|hired) {a hired} to go to {city}
. {el carpart} del coche no funcionar.pres@carpart
  = ({the carpart} of the car|the car 's {carpart}) do.pres@carpart n't work
. se ha averiado {el motored} = {the motored} has broken down
. tener.pres@iwe una rueda pinchada = {iwe} have a flat (tyre|tire)
. quedarse.perf@iwe sin gasolina = {iwe} run.perf@iwe out of (petrol|gas)
, ponga {price} euros de gasolina = {price} euros of (petrol|gas)
? (puedo|se puede) aparcar {parkhere} = can i park {parkhere}
. {who} ir.pres@who a {anycity} {journey} {future} = {who} be.pres@who going to {anycity} {journey} {future}
. {someone} ir.pres@someone {al dest} {intown} {regularly}
  = {someone} go.pres@someone to {the dest} {intown} {regularly}
. {who} llegar.pres@who {plainday} a {clock} = {who} be.pres@who arriving {plainday} at {clock}
. {who} salir.pres@who para {anycity} {future} = {who} be.pres@who leaving for {anycity} {future}
. {who} volver.pret@who de {anycity} {past} = {who} came back from {anycity} {past}
. {who} preferir.pres@who viajar {journey} = {who} prefer.pres@who (to travel|travelling) {journey}
?? a qué hora llegar.pres@family {family} = what time do.pres@family {family} arrive
?? cuándo salir.pres@you para {anycity} = when are {you} leaving for {anycity}
. {who} bajarse.pret@who en la estación de {city} = {who} got off at {city} station
. {someone} estar.pres@someone esperando {el ride} = {someone} be.pres@someone waiting for {the ride}
? a qué hora llegamos a {city} = what time do we (get to|arrive in) {city}
. hay una parada {locate} = there is a stop {locate}
"""

AIRPORT = """
? a qué hora sale el vuelo (a|para) {abroad} = what time does the flight to {abroad} leave
? de qué puerta sale el vuelo (a|para) {abroad} = which gate does the flight to {abroad} leave from
. el vuelo a {abroad} sale de la puerta {platform} = the flight to {abroad} leaves from gate {platform}
. {mi@iwe flight} a {abroad} (se ha retrasado|lleva retraso) = {my@iwe flight} to {abroad} is delayed
. {mi@iwe flight} a {abroad} ha sido cancelado = {my@iwe flight} to {abroad} has been cancelled
. el vuelo de {abroad} aterriza a {clock} = the flight from {abroad} lands at {clock}
. los pasajeros del vuelo a {abroad} deben ir a la puerta {platform}
  = passengers on the flight to {abroad} must go to gate {platform}
.! {want} {un seat} = {want} {a seat}
? dónde puedo facturar {el luggage} = where can i check in my {luggage}
. {mi@iwe luggage} no haber.pres@luggage llegado {yet?} = {my@iwe luggage} have.pres@luggage n't arrived {yet}
? (tiene|lleva) algo que declarar = do you have anything to declare
?! {show} {mi@polite document} = {show} {my@polite document}
? ser.pres@luggage este@luggage {mi@polite luggage} = be.pres@luggage this@luggage {my@polite luggage}
.! {wantto} {changebook} {mi@wantto flight} a {abroad} = {wantto} {changebook} {my@wantto flight} to {abroad}
: abróchense los cinturones . = fasten your seat belts .
. {someone} llevar.pres@someone {un carried} muy pesado@carried
  = {someone} be.pres@someone carrying a very heavy {carried}
? puedo llevar {este carried} en la cabina = can i take {this carried} into the cabin
. {someone} perder.perf@someone {mi@someone document} en el aeropuerto
  = {someone} lost {my@someone document} at the airport
"""

DIRECTIONS = """
3* ? dónde (está|queda|se encuentra) {el place} = where is {the place}
2* ? hay {un near} (cerca de aquí|por aquí cerca|por aquí) = is there {a near} (near here|nearby|around here)
2* ? (cómo se va|cómo llego|cómo puedo ir|por dónde se va) {al place} = (how do i get|how can i get) to {the place}
?! {tell} dónde está {el place} = {tell} where {the place} is
?! {tell} (cómo se va|cómo ir|cómo llegar) {al place} = {tell} how to get to {the place}
?! {show} el camino {al place} = {show} the way to {the place}
? está muy lejos {el place} = is {the place} very far
2* . {el landmark} (está|queda) {locate} = {the landmark} is {locate}
. hay {un near} {locate} = there is {a near} {locate}
. {el place} no está lejos de aquí = {the place} is n't far from here
2* . siga (todo recto|recto|derecho) hasta {el place}
  = go straight (ahead|on) (to|as far as|until you reach) {the place}
. (gire|doble|tuerza) {turn} en {corner} = turn {turn} at {corner}
. (tome|coja) la {nthfew} calle {side} = take the {nthfew} street {side}
. siga recto y (gire|doble) {turn} {beforeafter} {el landmark}
  = go straight on and turn {turn} {beforeafter} {the landmark}
. cruce {el crossing} y (gire|doble) {turn} = cross {the crossing} and turn {turn}
. cruce {el crossing} y siga recto hasta {el place} = cross {the crossing} and go straight on to {the place}
. {el dest} está a {minutes} minutos {intown} = {the dest} is {minutes} minutes away {intown}
. {el place} está a {distance} de aquí = {the place} is {distance} from here
? se puede ir {al place} (a pie|andando) = can (i|you) walk to {the place}
. (nos hemos perdido|estamos perdidos) = we are lost
. {who} perderse.pret@who {lostin} = {who} got lost {lostin}
.! {want} {un plan} = {want} {a plan}
? (tiene|tienen) {un plan} = do you have {a plan}
? me puede (enseñar|señalar) {el place} en el plano = can you show me {the place} on the map
? en qué (piso|planta) está {el department} = (what|which) floor is {the department} on
. {el department} está en {floor} = {the department} is on {floor}
? es este@road {el road} = is this {road}
? vamos en la dirección correcta para ir {al dest} = are we going in the right direction for {the dest}
. {el place} está en dirección contraria = {the place} is in the opposite direction
? cuál es la dirección {del addressed} = what is the address of {the addressed}
? (sabe|saben) dónde está {el place} = do you know where {the place} is
"""

BANK = """
.! {wantto} cambiar {exchanged} {currency} (en|a|por) euros
  = {wantto} (change|exchange) {exchanged} {currency} (into|for) euros
.! {wantto} abrir una cuenta {inbank?} = {wantto} open an account {inbank}
.! {wantto} sacar {amount} euros de {mi@wantto account}
  = {wantto} (withdraw|take out) {amount} euros from {my@wantto account}
. {who} sacar.pret@who {amount} euros {del cash} = {who} (withdrew|took out) {amount} euros from {the cash}
.! {wantto} ingresar {amount} euros en {mi@wantto account}
  = {wantto} (deposit|pay) {amount} euros into {my@wantto account}
? a cuánto está {el coin} = what is the exchange rate for {the coin}
? cuánto cobran de comisión = how much commission do you charge
?! {give} {amount} euros en billetes de {smallnote} = {give} {amount} euros in {smallnote} (notes|bills)
? tiene cambio de un billete de {bignote} euros = do you have change for a {bignote} (note|bill)
. solo tener.pres@iwe un billete de {bignote} euros = {iwe} only have a {bignote} (note|bill)
. el cajero se ha tragado {mi@iwe bankcard} = the (cash machine|atm) has swallowed {my@iwe bankcard}
. el cajero no acepta {mi@iwe bankcard} = the (cash machine|atm) does n't accept {my@iwe bankcard}
. no queda dinero en {mi@iwe account} = there is no money left in {my@iwe account}
. el dinero ya está en {mi@polite account} = the money is already in {my@polite account}
. {patient} trabajar.pres@patient en {workplace} = {patient} work.pres@patient {workplace}
. {someone} estar.pres@someone sentado@someone en un banco {benchplace}
  = {someone} be.pres@someone sitting on a bench {benchplace}
. {someone} estar.impf@someone esperando en un banco {benchplace}
  = {someone} be.past@someone waiting on a bench {benchplace}
. hay un banco {benchplace} = there is a bench {benchplace}
. el banco {benchof} está {benchstate} = the bench {benchof} is {benchstate}
. {who} descansar.pret@who en un banco {benchplace} = {who} rested on a bench {benchplace}
. el banco no abre los {days} = the bank is n't open on {days}
. el banco cierra a {bankclosing} = the bank closes at {bankclosing}
. {who} tener.pres@who que ir al banco a {bankdo} = {who} have.pres@who to go to the bank to {bankdo}
? hay un banco donde cambiar dinero {inlocal} = is there a bank where i can change money {inlocal}
"""

POST = """
.! {want} {few} sellos para {country} = {want} {few} stamps for {country}
.! {wantto} (enviar|mandar) {este postal} a {country} = {wantto} send {this postal} to {country}
? cuánto cuesta (enviar|mandar) {un postal} a {country} = how much does it cost to send {a postal} to {country}
. {who} escribir.pret@who {un written} a {person} = {who} wrote {a written} to {person}
. {who} recibir.pret@who una carta de {person} = {who} (got|received) a letter from {person}
. ha llegado {un postal} para {person} = {a postal} has arrived for {person}
? dónde hay un buzón {inlocal?} = where is there a (letter box|mailbox) {inlocal}
"""

TELEPHONE = """
?! (puedo|podría) hablar con {callee} = (can|could|may) i speak (to|with) {callee}
. {callee} no estar.pres@callee {nowhere} = {callee} be.pres@callee n't here {nowhere}
?? querer.pres@polite dejar (un recado|un mensaje) = (do {polite} want|would {polite} like) to leave a message
? cuál es {mi@polite contact} = what is {my@polite contact}
. mi número de habitación es el {roomnum} = my room number is {roomnum}
. se ha equivocado de número = you have the wrong number
. volver.fut@iwe a llamar {later} = {iwe} will call (again|back) {later}
? cuál es la contraseña del wifi = what is the wifi password
? dónde puedo cargar el móvil = where can i charge my (phone|mobile)
?! puedo usar {mi@polite phone} = (can|may) i use {my@polite phone}
. mi (teléfono|móvil) no tiene {nosignal} = my phone has no {nosignal}
. {who} llamar.perf@who a {family} pero no contestar.pres@family
  = {who} call.perf@who {family} but i@family do.pres@family n't answer
, dígale a {relative} que llegar.pres@iwe a {clock} = tell {relative} that {iwe} be.pres@iwe arriving at {clock}
, dígale que llegar.pres@iwe {future} = tell (him|her) that {iwe} be.pres@iwe arriving {future}
"""

SHOPPING = """
? (tienen|venden) {goods+} = do you (have|sell) {goods+}
? dónde (puedo|se puede) comprar {un goods} = where can i (buy|get) {a goods}
? dónde puedo encontrar {un goods} {inlocal?} = where can i find {a goods} {inlocal}
.! {wantto} comprar {un souvenir} para {person} = {wantto} buy {a souvenir} for {person}
. {who} comprar.pret@who {un gift} para {person} = {who} bought ({a gift} for {person}|{person} {a gift})
: comprar.perf@iwe {un gift} . se lo@gift ir.pres@iwe a (dar|regalar) a {person} .
  = {iwe} bought {a gift} . {iwe} be.pres@iwe going to give it@gift to {person} .
. les@family (regalar.pret@iwe|regalar.perf@iwe) {un gift} a {family}
  = {iwe} gave ({family} {a gift}|{a gift} to {family})
. se lo@it dar.pret@iwe a {person} {past?} = {iwe} gave {it} to {person} {past}
? (me lo@it puede envolver|puede envolvérmelo@it) (para regalo|) = can you (wrap|gift-wrap) {it} for me
2* ? cuánto (costar.pres@buyable*|valer.pres@buyable*) {este buyable*}
  = how much (be.pres@buyable* {this buyable*}|do.pres@buyable* {this buyable*} cost)
. {este priced*} (costar.pres@priced*|valer.pres@priced*) {price} euros = {this priced*} cost.pres@priced* {price} euros
? ser.pres@garment de {material} {este garment} = be.pres@garment {this garment} made of {material}
? (puedo|podría) probarme {este cloth} = (can|may|could) i (try on {this cloth}|try {this cloth} on)
. {este cloth} me quedar.pres@cloth (demasiado|muy) {fit@cloth} = {this cloth} be.pres@cloth too {fit} for me
. {este garment} me quedar.pres@garment demasiado {lengthy@garment}
  = {this garment} be.pres@garment too {lengthy} for me
. {este cloth} (te|le) quedar.pres@cloth muy bien = {this cloth} (suit.pres@cloth you|look.pres@cloth great on you)
? tienen {este cloth} en {incolour} = do you have {this cloth} in {incolour}
? tienen {este cloth} en una talla más {sizeadj} = do you have {this cloth} in a {sizeadj} size
. buscar.pres@iwe {un cloth} {colour@cloth} = {iwe} be.pres@iwe looking for a@cloth {colour} {cloth}
. {someone} llevar.pres@someone {un unisex} {colour@unisex}
  = {someone} be.pres@someone wearing a@unisex {colour} {unisex}
. {patient} ponerse.pret@patient {el unisex} {colour@unisex} = {patient} put on my@patient {colour} {unisex}
. necesito la talla {size} = i need (a|) size {size}
: me gustar.pres@buyable* {este buyable*} . me lo@buyable* llevo . = i like {this buyable*} . i will take it@buyable* .
. {este buyable*} ser.pres@buyable* demasiado caro@buyable* = {this buyable*} be.pres@buyable* too expensive
? (tiene|tienen) {un buyable} más {goodsadj@buyable} = do you have a@buyable {goodsadj.er} {buyable}
? (tiene|tienen) algo más {goodsadj} = do you have (anything|something) {goodsadj.er}
? (me puede hacer|puede hacerme|me hace) un descuento = can you give me a discount
? dónde están los probadores = where are the (fitting|changing) rooms
? dónde está la caja = where is the (cash desk|till|checkout)
?! {show} {ese buyable*} {inwindow?} = {show} {that buyable*} {inwindow}
.! {wantto} {swap} {este buyable*} = {wantto} {swap} {this buyable*}
. {este gadget} no funcionar.pres@gadget y quiero devolverlo@gadget
  = {this gadget} do.pres@gadget n't work and i want to return it@gadget
?! {give} {un givable} = {give} {a givable}
"""

HEALTH = """
2* . me doler.pres@bodypart {alot?} {el bodypart} = my {bodypart} hurt.pres@bodypart {alot}
. me doler.pres@bodypart {el bodypart} {since} = my {bodypart} have.pres@bodypart been hurting {since}
. a {relative} le doler.pres@bodypart {el bodypart} = {relative} 's {bodypart} hurt.pres@bodypart
?? le doler.pres@bodypart {el bodypart} = do.pres@bodypart your {bodypart} hurt
?? desde cuándo le doler.pres@bodypart {el bodypart} = how long have.pres@bodypart your {bodypart} been hurting
. {patient} tener.pres@patient {ailment} = {patient} have.pres@patient {ailment}
. {patient} tener.pres@patient {ailment} {since} = {patient} have.perf@patient {ailment} {since}
?? tener.pres@you {ailment} = do {you} have {ailment}
. {patient} romperse.perf@patient {el broken} = {patient} (break.perf@patient|broke) {my@patient broken}
. {patient} romperse.pret@patient {el broken} {past} = {patient} broke {my@patient broken} {past}
. {patient} torcerse.perf@patient {el sprained} = {patient} (sprain.perf@patient|twisted|sprained) {my@patient sprained}
. {patient} quemarse.perf@patient {el burnt} = {patient} (burn.perf@patient|burnt) {my@patient burnt}
. {patient} caerse.pret@patient {fallwhere} = {patient} fell {fallwhere}
. {who} estar.pres@who {mood@who} = {who} be.pres@who {mood}
. {who} estar.pres@who {verywell} {moodgrade@who} = {who} be.pres@who {verywell} {moodgrade}
?? por qué estar.pres@you tan {moodgrade@you} = why are {you} so {moodgrade}
, tome {un pill} cada {few} horas = take {a pill} every {few} hours
. tiene que tomar {few} {pill+} al día {mealwhen?} = you have to take {few} {pill+} (a|per) day {mealwhen}
. {patient} tener.pres@patient que tomar {un pill} cada {few} horas
  = {patient} have.pres@patient to take {a pill} every {few} hours
? cuánto@pill+ {pill+} tengo que tomar al día = how many {pill+} do i have to take (a|per) day
. necesitar.pres@iwe {kind} (ahora mismo|enseguida) = {iwe} need {kind} (right now|right away)
. buscar.pres@iwe {kind} que hable {language} = {iwe} be.pres@iwe looking for {kind} who speaks {language}
? conoce a {kind} que hable {language} = do you know {kind} who speaks {language}
.! {wantto} pedir (hora|cita) con {medic} {future?} = {wantto} make an appointment with {medic} {future}
. {who} tener.pres@who (hora|cita) con {medic} {plainday} a {officehour}
  = {who} have.pres@who an appointment with {medic} {plainday} at {officehour}
.! {want} {un medicine} = {want} {a medicine}
? (tiene|tienen) algo para {remedy} = do you have (anything|something) for {remedy}
? necesito receta para {este prescribed} = do i need a prescription for {this prescribed}
. {medic} me ha dado una receta para {remedy} = {medic} (gave|has given) me a prescription for {remedy}
. {patient} ser.pres@patient alérgico@patient a {substance} = {patient} be.pres@patient allergic to {substance}
. {patient} ponerse.pret@patient enfermo@patient {past} = {patient} (got|fell) ill {past} / {patient} got sick {past}
. {patient} llevar.pres@patient {few} días enfermo@patient = {patient} be.perf@patient (ill|sick) for {few} days
, respire hondo = breathe deeply / take a deep breath
, abra la boca = open your mouth
, saque la lengua = stick out your tongue
, túmbese {layon} = lie down {layon}
. {patient} sentirse.pres@patient {how} = {patient} feel.pres@patient {how}
?? cómo sentirse.pres@you {today?} = how (do {you} feel|are {you} feeling) {today}
. {patient} no sentirse.pres@patient bien {since} = {patient} have.pres@patient n't been feeling well {since}
. mi (mujer|esposa) está embarazada = my wife is pregnant
. mi hermana está embarazada de {few} meses = my sister is {few} months pregnant
: que se mejore pronto . = get well soon .
. {patient} coger.perf@patient un resfriado = {patient} (catch.perf@patient|caught) a cold
"""

EMERGENCY = """
! (socorro|auxilio) = help
! al ladrón = stop , thief
! cuidado con {danger} = (watch out for|mind|be careful with) {danger}
! llame a {rescuer} = call {rescuer}
, llame a {rescuer} (enseguida|ahora mismo) = call {rescuer} (right away|immediately)
2* . les@iwe han robado {el valuable} {stolenwhere?}
  = (someone has stolen|someone stole|they stole) {my@iwe valuable} {stolenwhere}
. a {relative} le han robado {el valuable} = (someone has stolen|someone stole|they stole) {relative} 's {valuable}
2* . {who} perder.perf@who {mi@who valuable} {stolenwhere?} = {who} (lose.perf@who|lost) {my@who valuable} {stolenwhere}
2* . {who} perder.pret@who {mi@who valuable} {past} = {who} lost {my@who valuable} {past}
. {who} no encontrar.pres@who {mi@who valuable} = {who} ca n't find {my@who valuable}
. {who} olvidar.perf@who {mi@who valuable} {leftplace} = {who} left {my@who valuable} {leftplace}
2* . {someone} estar.pres@someone buscando {mi@someone valuable}
  = {someone} be.pres@someone looking for {my@someone valuable}
? ha encontrado alguien {un valuable} = has (anyone|anybody|someone) found {a valuable}
?? de qué color ser.pres@luggage {mi@polite luggage} = what colour be.pres@luggage {my@polite luggage}
?? perder.perf@you {mi@you valuable} = have {you} lost {my@you valuable}
. ha habido un accidente en {el road} = there has been an accident on {road}
. hay un incendio en {el burning} = there is a fire in {the burning}
. {relative} estar.pres@relative {hurt@relative} = {relative} be.pres@relative {hurt}
. {relative} desmayarse.perf@relative {faintwhere} = {relative} fainted {faintwhere}
. {who} quedarse.perf@who encerrado@who en {trap} = {who} be.pres@who (stuck|trapped) in {trap}
. dejarse.perf@iwe las llaves dentro {keysin} = {iwe} left the keys {keysin}
. querer.pres@iwe poner una denuncia = {iwe} want to (file|make) a police report
. {someone} pedir.pret@someone ayuda a {worker} = {someone} asked {worker} for help
. {who} pedir.pret@who {un givable} a {clerk} = {who} asked {clerk} for {a givable}
. no encontrar.pres@iwe a {family} = {iwe} ca n't find {family}
? dónde está {el near} más cercano@near = where is the nearest {near}
"""

WEATHER = """
? qué tiempo hace {today?} en {anycity} = what is the weather like {today} in {anycity}
? qué tiempo (hará|va a hacer) {dayfut} = what will the weather be like {dayfut}
? qué tiempo (hará|va a hacer) {dayfut} en {anycity} = what will the weather be like in {anycity} {dayfut}
? hace {wxbase} en {anycity} en {month} = is it {wxbase} in {anycity} in {month}
. {dayfut} (va a hacer|hará) {wx} = it (will|is going to) be {wx} {dayfut}
. hizo {wx} en {anycity} {pastday} = it was {wx} in {anycity} {pastday}
. hoy hace {wx} en {city} = it is {wx} in {city} today
. {dayfut} va a {rain} en {city} = it is going to {rain} in {city} {dayfut}
. está {rain.ger} en {city} = it is {rain.ing} in {city}
. en {city} llueve mucho en {month} = it rains a lot in {city} in {month}
. en {city} (no nieva nunca|nunca nieva) = it never snows in {city}
. en {city} casi nunca llueve en {summery} = it hardly ever rains in {city} in {summery}
. en {city} {seasonwx} = in {city} {seasonwx}
. mi estación favorita es {season} = my favourite season is {season}
. la estación favorita de {relative} es {season} = {relative} 's favourite season is {season}
. {season} es la mejor estación para {visiting} {city} = {season} is the best season to {visiting} {city}
. la temperatura es de {degrees} grados en {city} = the temperature is {degrees} degrees in {city}
2* . {who} no tener.pres@who tiempo para {act@who} = {who} do.pres@who n't have time to {act}
. con este tiempo no poder.pres@iwe {outdoor@iwe} = in this weather {iwe} ca n't {outdoor}
. hace {weathergood} tiempo para {outdoor@we} {we} = {weathergood} for {outdoor.ing}
2* . hace mucho tiempo que {who} no {leisureact.pres@who} = {who} have.pres@who n't {leisureact.part} for a long time
. llévese el paraguas porque va a llover = take your umbrella because it is going to rain
"""

SIGHTSEEING = """
? cuánto cuesta la entrada {al museum} = how much is (the ticket|admission) to {the museum}
? dónde está la entrada {del museum} = where is the entrance to {the museum}
. la entrada {del museum} está {locate} = the entrance to {the museum} is {locate}
. la entrada {al museum} cuesta {small} euros = (the ticket|admission) to {the museum} costs {small} euros
. la entrada {al museum} es gratis los {days} = admission to {the museum} is free on {days}
? quedan entradas para {performance} {dayfut?} = are there any tickets left for {performance} {dayfut}
.! {want} {few} entradas para {performance} = {want} {few} tickets for {performance}
. {who} sacar.perf@who {few} entradas para {performance} = {who} (got|bought) {few} tickets for {performance}
? a qué hora {openclose.pres@openable} {el openable} = what time does {the openable} {openclose}
? a qué hora {openclose.pres@openable} {el openable} {opendays} = what time does {the openable} {openclose} {opendays}
. {el openable} está cerrado@openable {closeddays} = {the openable} is closed {closeddays}
. {el openable} está abierto@openable hasta {closing} = {the openable} is open until {closing}
. {el openable} {hours} = {the openable} {hours}
? está abierto@openable {el openable} {opendays} = is {the openable} open {opendays}
? hay descuento para {group} = is there a (discount|reduction) for {group}
? se pueden (sacar|hacer) fotos {photowhere} = can (you|we|i) take (photos|pictures) {photowhere}
. está prohibido sacar fotos {photowhere} = it is forbidden to take (photos|pictures) {photowhere}
?! {photograph} una foto {photospot?} = {photograph} {photospot}
. {who} sacar.pret@who muchas fotos {del sight} = {who} took (a lot of|many) (photos|pictures) of {the sight}
? quién construyó {el datable} = who built {the datable}
? cuándo (se construyó {el datable}|fue construido@datable {el datable}) = when was {the datable} built
. {el datable} (se construyó|fue construido@datable) en el siglo {centuryth}
  = {the datable} was built in the {centuryth} century
. {el datable} es del siglo {centuryth} = {the datable} (is|dates) from the {centuryth} century
? hay visitas guiadas en {foreign} = are there any guided tours in {foreign}
? a qué hora empieza la visita guiada en {foreign} = what time does the guided tour in {foreign} start
. la visita {del museum} empieza a {clock} = the tour of {the museum} starts at {clock}
. {el citysight} de {city} es {verywell} {sightadj@citysight} = {the citysight} of {city} is {verywell} {sightadj}
. {el sight} es más {sightadj@sight} que {el sight2} = {the sight} is {sightadj.er} than {the sight2}
. {el sight} es el monumento más {sightadj} de la ciudad = {the sight} is the {sightadj.est} monument in the city
. {el sight} me pareció {verywell} {sightadj@sight} = i found {the sight} {verywell} {sightadj}
. las vistas desde {el viewpoint} son {viewadj}
  = the view from {the viewpoint} is {viewadj} / the views from {the viewpoint} are {viewadj}
. merece la pena {visiting} {el sight} = it is worth {visiting.ing} {the sight}
? qué (hay que|se puede) {visiting} en {city} = what is there to {visiting} in {city}
? qué me recomienda {visiting} en {city} = what do you recommend {visiting.ing} in {city}
?? estar.perf@you alguna vez en {anycity} = have {you} ever been to {anycity}
. {who} (nunca estar.perf@who|no estar.perf@who nunca) en {anycity} = {who} have.pres@who never been to {anycity}
"""

PLANS = """
2* . {who} ir.pres@who a {nightly@who} {tonight} = {who} be.pres@who going to {nightly} {tonight}
2* . {lastnight} {who} {nightly.pret@who} = ({lastnight} {who} {nightly.past}|{who} {nightly.past} {lastnight})
?? querer.pres@you {nightly@you} {tonight} = (do {you} want|would {you} like) to {nightly} {tonight}
5* . ({past} {who} {act.pret@who}|{who} {act.pret@who} {past})
  = ({who} {act.past@who} {past}|{past} {who} {act.past@who})
5* . ({future} {who} ir.pres@who a {act@who}|{who} ir.pres@who a {act@who} {future})
  = ({who} be.pres@who going to {act} {future}|{future} {who} be.pres@who going to {act})
2* . {who} querer.impf@who {act@who} pero {excuse} = {who} wanted to {act} but {excuse}
2* . {who} querer.impf@who comprar {un souvenir} pero {moneyexcuse} = {who} wanted to buy {a souvenir} but {moneyexcuse}
. {who} querer.pres@who aprender {skill} = {who} want.pres@who to learn {skill}
2* . {who} no poder.pret@who {act@who} porque {excuse} = {who} could n't {act} because {excuse}
. {who} no poder.pret@who {sunny@who} porque {badweather} = {who} could n't {sunny} because {badweather}
. {who} querer.impf@who {sunny@who} pero {badweather} = {who} wanted to {sunny} but {badweather}
2* . {wantto} {act@wantto} {future?} = {wantto} {act} {future}
2* . a {family} les@family gustaría {act@family} = {family} would like to {act}
2* . {someone} querer.pres@someone {act@someone} {future?} = {someone} want.pres@someone to {act} {future}
2* . {who} todavía no {done.perf@who} = {who} have.pres@who n't {done.part} yet
2* ?? querer.pres@you {act@you} {future?} = (do {you} want|would {you} like) to {act} {future}
?? ya {done.perf@you} = have {you} {done.part} yet / have {you} already {done.part}
?? por qué no {act.pres@we} {future} = why do n't {we} {act} {future}
2* . antes de {departure@who} , {who} tener.pres@who que {chore@who}
  = before {departure.ing} , {who} have.pres@who to {chore}
2* . {who} {chore.pret@who} antes de {departure@who} = {who} {chore.past} before {departure.ing}
. después de {outing@who} , {who} {chore.pret@who} = after {outing.ing} , {who} {chore.past}
. cuando {who} llegar.pret@who {al museum} , ya estaba cerrado@museum
  = when {who} (got to|arrived at) {the museum} , it was already closed
. cuando {who} llegar.pret@who a la estación , {el ride} ya había salido
  = when {who} (got to|arrived at) the station , {the ride} had already left
. si mañana hace buen tiempo , ir.pres@iwe a {sunny@iwe} = if the weather is good tomorrow , {iwe} will {sunny}
. si tener.pres@iwe tiempo , ir.pres@iwe a {act@iwe} = if {iwe} have time , {iwe} will {act}
. {who} pensar.pres@who {act@who} {future} = {who} be.pres@who planning to {act} {future}
. {iwe} llevar.fut@iwe a {family} {al leisure} {future} = {iwe} will take {family} to {the leisure} {future}
. les@iwe gusta {leisureact@iwe} = {iwe} like (to {leisureact}|{leisureact.ing})
2* . a {family} no les@family gusta {leisureact@family}
  = {family} do.pres@family n't like (to {leisureact}|{leisureact.ing})
2* . a {family} les@family gusta {leisureact@family} = {family} like.pres@family (to {leisureact}|{leisureact.ing})
. a {family} les@family encanta {leisureact@family} = {family} love.pres@family (to {leisureact}|{leisureact.ing})
2* . les@iwe gustar.pres@liked {alottwo?} {el liked} = {iwe} like {liked} {alottwo}
2* . a {family} les@family gustar.pres@liked {alottwo?} {el liked} = {family} like.pres@family {liked} {alottwo}
. a {family} no les@family gustar.pres@liked {el liked} = {family} do.pres@family n't like {liked}
. les@iwe encantar.pres@liked {el liked} = {iwe} love {liked}
?? les@you gustar.pres@liked {el liked} = do {you} like {liked}
?? les@you gustar.perf@favourite {el favourite} = did {you} like {the favourite}
. les@iwe gustar.pret@favourite mucho {el favourite} = {iwe} liked {the favourite} (very much|a lot)
. a {family} les@family gustar.pret@favourite mucho {el favourite} = {family} liked {the favourite} (very much|a lot)
. {who} preferir.pres@who {el beverage} {al beverage2} = {who} prefer.pres@who {beverage} to {beverage2}
. mi {parent} no me deja {leisureact@me} {me} = my {parent} does n't let {me} {leisureact}
. {relative} sacar.pres@relative al perro {dogtime} = {relative} walk.pres@relative the dog {dogtime}
"""

SMALLTALK = """
? cómo llamarse.pres@polite {polite} = what is your name
?? cómo se llama {mi@you kin} = what is {my@you kin} 's name
. (me llamo|mi nombre es) {boy} {surname} = my name is {boy} {surname}
. (me llamo|mi nombre es) {girl} {surname} = my name is {girl} {surname}
. {mi@iwe kinm} se llama {boy} = {my@iwe kinm} 's name is {boy} / {my@iwe kinm} is called {boy}
. {mi@iwe kinf} se llama {girl} = {my@iwe kinf} 's name is {girl} / {my@iwe kinf} is called {girl}
. {mi@iwe child} tiene {age} años = {my@iwe child} is {age} years old
?? cuántos años tiene {mi@you child} = how old is {my@you child}
. {who} ser.pres@who de {origin} = {who} (be.pres@who|come.pres@who) from {origin}
?? de dónde ser.pres@you {you} = where are {you} from
?? de dónde es {mi@you friend} = where is {my@you friend} from
. {mi@iwe kinm} es {job} = {my@iwe kinm} is {a job}
. {mi@iwe kinf} es {jobf} = {my@iwe kinf} is {a jobf}
. soy {job} y vivo en {anycity} = i am {a job} and i live in {anycity}
? a qué dedicarse.pres@polite {polite} = what do {polite} do (for a living|)
3* . {patient} estudiar.pres@patient {subject} en {anycity} = {patient} study.pres@patient {subject} in {anycity}
. {who} hablar.pres@who {language} y un poco de {language2} = {who} speak.pres@who {language} and a little {language2}
. {who} no hablar.pres@who {language} = {who} do.pres@who n't speak {language}
?? hablar.pres@you {language} {you} = do {you} speak {language}
? hay alguien que hable {foreign} = is there (anyone|anybody) who speaks {foreign}
?! (puede|podría) hablar más despacio = (can|could) you speak more slowly
?! (puede|podría) (escribirlo|apuntarlo) = (can|could) you write it down
? qué significa esta palabra = what does this word mean
? cómo se dice esto en {language} = how do you say this in {language}
2* . {who} llevar.pres@who {few} {dayspan} en {anycity} = {who} be.perf@who in {anycity} for {few} {dayspan}
. {who} llevar.pres@who {few} {longspan} {lasting.ger@who} = {who} be.perf@who {lasting.ing} for {few} {longspan}
. es la primera vez que venir.pres@iwe a {anycity} = this is my@iwe first time in {anycity}
?? conocer.pres@you a {person} = do {you} know {person}
?? conocer.pres@you {city} = do {you} know {city}
. {who} conocer.pret@who a {stranger} en {anycity} = {who} met {stranger} in {anycity}
. {someone} estar.pres@someone esperando a {person} = {someone} be.pres@someone waiting for {person}
. estar.pres@iwe buscando a {person} = {iwe} be.pres@iwe looking for {person}
. {who} ver.pret@who a {person} {seenwhere} = {who} saw {person} {seenwhere}
. {who} invitar.perf@who a {person} a {invited} = {who} (invite.perf@who|invited) {person} {invited}
. esperar.pres@iwe que {hope} = {iwe} hope (that|) {hope}
. {who} quedar.perf@who con {person} a {clock} = {who} be.pres@who meeting {person} at {clock}
?? dónde quedamos {future?} = where shall we meet {future}
?? a qué hora quedamos {future?} = what time shall we meet {future}
. quedamos en {el dest} a {clock} = let 's meet at {the dest} at {clock}
. nos vemos {future} {meetwhere} = see you {future} {meetwhere}
. nos vemos {plainday} a {clock} = see you {plainday} at {clock}
: {thanks} por {thanksfor} . = {thanks} for {thanksfor} .
. sentir.pres@iwe (mucho|) llegar tarde
  = {iwe} be.pres@iwe sorry for being late / {iwe} be.pres@iwe sorry {iwe} be.pres@iwe late
. (le|te) presento a {family} = this@family be.pres@family {family}
. {someone} llegar.pret@someone tarde {lateto} = {someone} be.past@someone late for {lateto}
. {who} levantarse.pres@who tarde los {days} = {who} get.pres@who up late on {days}
3* . {believe} {clause} = {believe} {clause}
. ya se lo decir.perf@iwe a {person} = {iwe} have already told {person}
. {who} no darse.pret@who cuenta de que {clausepast} = {who} did n't (notice|realise) that {clausepast}
. {who} ir.pres@who a casarse.inf@who en {month} = {who} be.pres@who getting married in {month}
. {someone} ser.pres@someone {verywell} {trait@someone} = {someone} be.pres@someone {verywell} {trait}
. {fixed} = {fixed}
?? {fixedask} = {fixedask}
"""

TIME = """
: {opener} ¿ qué hora es ? = {opener} what time is it ?
?! {tell} (qué hora es|la hora) = {tell} (what time it is|the time)
. {nowclock} = it is {nowclock}
. {el event} es {future} = {the event} is {future}
. {el event} empieza a {clock} = {the event} (starts|begins) at {clock}
. {el event} termina a {clock} = {the event} (ends|finishes) at {clock}
? a qué hora {begin.pres@event} {el event} = what time does {the event} {begin}
. {el event} dura {lasts} = {the event} lasts {lasts}
? cuánto (tiempo|) dura {el event} = how long (does {the event} last|is {the event})
? qué día es hoy = what day is it today
. hoy es {day} , {dayofmonth} de {month}
  = today is {day} , {month} {dayofmonth} / today is {day} , the {dayofmonth} of {month}
. mi cumpleaños es {date} = my birthday is (on|) {date}
. el cumpleaños de {relative} es {date} = {relative} 's birthday is (on|) {date}
"""

TOPICS = {
    "hotel": HOTEL,
    "flat": FLAT,
    "restaurant": RESTAURANT,
    "market": MARKET,
    "transport": TRANSPORT,
    "airport": AIRPORT,
    "directions": DIRECTIONS,
    "bank": BANK,
    "post": POST,
    "telephone": TELEPHONE,
    "shopping": SHOPPING,
    "health": HEALTH,
    "emergency": EMERGENCY,
    "weather": WEATHER,
    "sightseeing": SIGHTSEEING,
    "plans": PLANS,
    "smalltalk": SMALLTALK,
    "time": TIME,
}
