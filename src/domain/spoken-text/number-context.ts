/** ISO 4217 codes of common currencies; more would include English words such as TOP and ALL. */
const CURRENCY_CODES =
  "AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KES|KRW|MXN|NGN|NOK|NZD|PEN|PHP|PLN|RUB|SAR|SEK|SGD|THB|TRY|UAH|USD|UYU|VND|ZAR";

/** Units as written, with their capitals. */
const UNITS =
  "[kcdm]?m[²³23]?|km/h|ha|ft|yd|[km]?g|lbs?|oz|[cdm]?[lL]|t|h|m?s|m?in|mins?|secs?|hrs?|k?W|[kMG]Wh|m?Ah|k?V|[kMG]?Hz|[kKMGT]i?B|[kM]bps|px|dpi|rpm|k?cal|k?J|hPa|ppm|mph|kph";

/** Words after an amount: currencies, units, and other countable nouns. */
const COUNTABLE_NOUNS = [
  "dollars?|d[óo]lar(?:es)?|euros?|rea(?:l|is)|cents?|centavos?|c[ée]ntimos?|pesos?|pounds?|libras?|yens?|rupees?|rupias?|rublos?|rubles?|rand|francs?|francos?|franken|kron(?:or|er)|zlotych|złotych|рубл\\p{L}*|гривен\\p{L}*",
  "(?:kilo|centi|milli|mili|zenti|quil[ôo]|kil[óoô]|cent[íi]|mil[íi])?(?:met(?:er|re)s?|metern|metros?|mètres?|metri|gram(?:s|m|mes|mas|os|mi|as|me)?|lit(?:er|re)s?|litern|litros?|watts?|volts?|bytes?)",
  "miles|millas|milhas|meilen|feet|foot|ounces|tons?|tonnes?|toneladas?|degrees|graus|grados|percent|por ?cento|por ciento|prozent|pour cent",
  "hours?|horas?|heures?|stunden?|minut(?:es?|os?|en)|seconds?|segundos?|secondes?|sekunden|days?|dias?|días?|jours?|tagen?|weeks?|semanas?|semaines?|wochen|months?|meses|mois|monaten?|years?|anos?|años?|ans|jahren?",
  "people|persons?|pessoas?|personas?|personnes?|personen|times|vezes|veces|fois|points?|pontos?|puntos?|steps?|units?|unidades?|items?|itens|customers?|clientes?|clients?|kunden|users?|usu[áa]rios?|seats?|words?|pages?|páginas?|seiten|copies|calories",
  "thousand|million(?:s|en|es)?|milh(?:ão|ões)|mill(?:ón|ones)|mil|mille|tausend|billion(?:s)?",
].join("|");

const BEFORE_AMOUNT = new RegExp(`(?:\\p{Sc}|(?<!\\p{L})(?:${CURRENCY_CODES})) ?[-+]?$`, "u");
const AFTER_AMOUNT = new RegExp(
  [
    `^[ \\u00a0]?(?:\\p{Sc}|[%‰°℃℉]|(?:${CURRENCY_CODES}|${UNITS})(?![\\p{L}\\p{N}'’]))`,
    "^(?:st|nd|rd|th)(?!\\p{L})|^\\.?[ºª]",
    "^[ \\u00a0]?[元円圆圓块원年人个個米公]|^[ \\u00a0]?(?:メートル|キロ)",
  ].join("|"),
  "u",
);
const AFTER_COUNT = new RegExp(`^[ \\u00a0-](?:de )?(?:${COUNTABLE_NOUNS})(?!\\p{L})`, "iu");

/** Words for a code, in the languages of most calls; up to three short words may stand between it and the number. */
const CODE_PREFIX =
  /(?:^|[^\p{L}])(?:code|codes|pin|otp|token|pass(?:code|word|wort)|kennwort|kode|c[óo]digo|senha|clave|contraseña|codice|mot de passe|код\p{L}*|пароль|κωδικός)(?: *[:#]? *| [\p{L}']{1,7}){0,3} *["'“«(]?$|(?:رمز|验证码|驗證碼|密码|コード|暗証番号|비밀번호|번호)[^\p{N}]{0,4}$/iu;

/** True if the text around a number shows that it is an amount: a currency, a unit, or a countable noun. */
export function isAmount(before: string, after: string): boolean {
  if (BEFORE_AMOUNT.test(before)) return true;
  const isInWord = /[A-Za-z]$/.test(before);
  return !isInWord && (AFTER_AMOUNT.test(after) || AFTER_COUNT.test(after));
}

/** True if the text before a number calls it a code. */
export function isCalledCode(before: string): boolean {
  return CODE_PREFIX.test(before);
}
