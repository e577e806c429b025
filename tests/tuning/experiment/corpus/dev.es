queríamos sacar veinte euros de nuestra cuenta .
¿ tiene cambio de un billete de cincuenta euros ?
¿ dónde está la peluquería más cercana ?
¿ hablan alemán ?
queremos cambiar de cuarto , por favor .
quédese con la vuelta .
el solomillo poco hecho .
¿ a qué hora sale el último autobús para huelva ?
mi novia va a londres en avión el sábado .
¿ a qué hora sale el próximo bus para barcelona ?
mi padre pidió la cuenta hace quince minutos .
queremos subir a la torre .
el teléfono de mi cuarto está averiado .
¿ qué van a pedir ustedes ?
¡ qué buenos están los champiñones !
perdone , deme un kilo de cebollas .
esta falda me queda demasiado corta .
¿ quieres dormir en una tienda de campaña esta noche ?
soy ingeniero y vivo en valencia .
ponga cincuenta euros de gasolina .
