import { phraseSearch } from "./phrase-search.ts";

/** The first words of call-screening assistants, which people and voicemail boxes do not use. */
const PROMPTS: readonly string[] = [
  // English
  "(record|state|say) your name and … (reason|why)",
  "(record|state|say) … name … (reason|why) … calling",
  "(see|check|find out) if … (this|the) person … available",
  "(call )?screening (service|assistant)",
  "(using|uses|with) … (screen|screening) … calls?",
  "(your|this) call is being screened",
  "call (assist|assistant) from",
  "(bixby )?text call",
  "will get a copy of this conversation",
  // Portuguese
  "(grave|gravar|diga|informe) … nome e … (motivo|por que)",
  "(servico de )?(filtro|filtragem|triagem) de (chamadas|ligacoes)",
  "(ver|verificar) se … pessoa esta disponivel",
  // Spanish
  "(grabe|graba|grabar|diga|di|indique) … nombre y … (motivo|por que)",
  "(servicio de )?(filtro|filtrado) de llamadas",
  "(ver|comprobar|comprobare|vere) si … persona esta disponible",
  // German
  "(nimm|nehmen|sprich|sprechen|sag|sagen|nenn|nenne|nennen) … namen und … (grund|anrufgrund|anliegen)",
  "(namen und den grund|grund deines anrufs|grund ihres anrufs)",
  "(anruffilter|anruf filter)",
  "ob … person (verfugbar|erreichbar) ist",
  // French
  "(enregistrez|enregistrer|indiquez|dites|donnez) votre nom et … (raison|motif|objet)",
  "(filtrage|filtre) (d appels?|des appels)",
  "(voir|verifier|verifie|vais voir) si … personne est disponible",
  // Italian
  "(registra|registri|registrare|di|dica|indica|indichi) … nome e … (motivo|perche)",
  "(filtro|filtraggio) (chiamate|delle chiamate)",
  "(vedere|vedro|verificare|controllo) se … persona e disponibile",
];

/** The words of an assistant while it asks the person, or connects the call. */
const FOLLOW_UP_PHRASES: readonly string[] = [
  "(stay|remain) on the line",
  "(hold on|please hold|hold the line|one moment|just a moment)",
  "(trying|try) to (reach|connect|contact)",
  "(thanks|thank you)",
  "(connecting|connect) you",
  "(fique|permaneca|aguarde) na linha",
  "(um momento|so um momento|aguarde)",
  "(permanezca|no cuelgue|mantengase)",
  "un momento",
  "(bleib|bleiben) … (dran|leitung)",
  "(einen moment|moment bitte|bitte warten)",
  "(restez|patientez|ne quittez pas)",
  "(resta|resti|rimanga) in linea",
  "(un attimo|attenda)",
];

/**
 * True for the words with which a call-screening assistant answers, in English, Portuguese, Spanish, German, French or
 * Italian.
 */
export const isCallScreening: (text: string) => boolean = phraseSearch(PROMPTS);

/** True for the words of an assistant while the caller waits. */
export const isScreeningFollowUp: (text: string) => boolean = phraseSearch(FOLLOW_UP_PHRASES);
