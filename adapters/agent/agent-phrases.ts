import { apologyIn } from "../../src/domain/agents/apologies.ts";

/** Built-in phrases of an agent, not written by its script or model. */
export interface Phrases {
  /** Spoken first, unless the script introduces itself. */
  readonly introduction: string;
  /** Spoken before repeating a question whose answer did not match. */
  readonly notAChoice: string;
  /** Spoken before hanging up because there was no answer. */
  readonly noAnswer: string;
  /** Spoken after a long silence. */
  readonly stillThere: string;
  /** Spoken if a tool takes a long time. */
  readonly oneMoment: string;
  /** Spoken before the call is hung up for another reason. */
  readonly goodbye: string;
  /** Spoken after a transfer that did not succeed. */
  readonly notTransferred: string;
  /** Spoken before the call fails. */
  readonly apology: string;
  /** Spoken after words that could not be transcribed. */
  readonly sayAgain: string;
  /** Spoken before the call is hung up because it has lasted too long. */
  readonly timeIsUp: string;
}

const ENGLISH: Phrases = {
  introduction: "This is an automated call.",
  notAChoice: "Sorry, that is not one of the answers.",
  noAnswer: "I have received no answer. Goodbye.",
  stillThere: "Are you still there?",
  oneMoment: "One moment, please.",
  goodbye: "Goodbye.",
  notTransferred: "Sorry, I could not put you through.",
  apology: apologyIn("en"),
  sayAgain: "I am sorry, I did not catch that. Could you say it again?",
  timeIsUp: "I am sorry, I have to end the call now. Goodbye.",
};

/** Phrases by the voice's language. */
const PHRASES: ReadonlyMap<string, Phrases> = new Map(
  Object.entries<Phrases>({
    en: ENGLISH,
    pt: {
      introduction: "Esta é uma chamada automática.",
      notAChoice: "Desculpe, essa não é uma das opções.",
      noAnswer: "Não recebi nenhuma resposta. Até logo.",
      stillThere: "Você ainda está aí?",
      oneMoment: "Um momento, por favor.",
      goodbye: "Até logo.",
      notTransferred: "Desculpe, não consegui transferir a chamada.",
      apology: apologyIn("pt"),
      sayAgain: "Desculpe, não entendi. Você pode repetir?",
      timeIsUp: "Desculpe, preciso encerrar a chamada agora. Até logo.",
    },
    es: {
      introduction: "Esta es una llamada automática.",
      notAChoice: "Lo siento, esa no es una de las opciones.",
      noAnswer: "No he recibido ninguna respuesta. Adiós.",
      stillThere: "¿Sigue usted ahí?",
      oneMoment: "Un momento, por favor.",
      goodbye: "Adiós.",
      notTransferred: "Lo siento, no he podido pasar la llamada.",
      apology: apologyIn("es"),
      sayAgain: "Perdone, no le he entendido. ¿Puede repetirlo?",
      timeIsUp: "Lo siento, tengo que terminar la llamada ahora. Adiós.",
    },
    de: {
      introduction: "Dies ist ein automatischer Anruf.",
      notAChoice: "Das ist leider keine der Antworten.",
      noAnswer: "Ich habe keine Antwort erhalten. Auf Wiederhören.",
      stillThere: "Sind Sie noch da?",
      oneMoment: "Einen Moment bitte.",
      goodbye: "Auf Wiederhören.",
      notTransferred: "Ich konnte Sie leider nicht verbinden.",
      apology: apologyIn("de"),
      sayAgain: "Entschuldigung, das habe ich nicht verstanden. Können Sie es wiederholen?",
      timeIsUp: "Ich muss das Gespräch jetzt leider beenden. Auf Wiederhören.",
    },
    fr: {
      introduction: "Ceci est un appel automatique.",
      notAChoice: "Désolé, ce n'est pas l'une des réponses.",
      noAnswer: "Je n'ai reçu aucune réponse. Au revoir.",
      stillThere: "Êtes-vous toujours là ?",
      oneMoment: "Un instant, s'il vous plaît.",
      goodbye: "Au revoir.",
      notTransferred: "Désolé, je n'ai pas pu transférer l'appel.",
      apology: apologyIn("fr"),
      sayAgain: "Pardon, je n'ai pas compris. Pouvez-vous répéter ?",
      timeIsUp: "Je suis désolé, je dois terminer l'appel maintenant. Au revoir.",
    },
    it: {
      introduction: "Questa è una chiamata automatica.",
      notAChoice: "Mi dispiace, non è una delle risposte.",
      noAnswer: "Non ho ricevuto nessuna risposta. Arrivederci.",
      stillThere: "È ancora in linea?",
      oneMoment: "Un momento, per favore.",
      goodbye: "Arrivederci.",
      notTransferred: "Mi dispiace, non ho potuto trasferire la chiamata.",
      apology: apologyIn("it"),
      sayAgain: "Mi scusi, non ho capito. Può ripetere?",
      timeIsUp: "Mi dispiace, devo terminare la chiamata adesso. Arrivederci.",
    },
  }),
);

/** The phrases in the language of a BCP 47 tag; English if there are none. */
export function phrasesIn(language: string): Phrases {
  return PHRASES.get(language.split("-", 1)[0]!.toLowerCase()) ?? ENGLISH;
}
