const ENGLISH = "I am sorry, something went wrong on our side. Goodbye.";

/** Apologies to the callee before a call ends because its agent has failed, by language. */
const APOLOGIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    en: ENGLISH,
    pt: "Desculpe, algo deu errado do nosso lado. Até logo.",
    es: "Lo siento, algo ha fallado por nuestra parte. Adiós.",
    de: "Es tut mir leid, bei uns ist etwas schiefgegangen. Auf Wiederhören.",
    fr: "Je suis désolé, un problème est survenu de notre côté. Au revoir.",
    it: "Mi dispiace, qualcosa è andato storto da parte nostra. Arrivederci.",
  }),
);

/** The apology in the language of a BCP 47 tag; English if there is none. */
export function apologyIn(language: string): string {
  return APOLOGIES.get(language.split("-", 1)[0]!.toLowerCase()) ?? ENGLISH;
}
