import { phraseSearch } from "./phrase-search.ts";

/** Phrases of machines that people do not use. */
const PHRASES: readonly string[] = [
  // English
  "leave … message",
  "leave your name",
  "record your message",
  "record … after the",
  "after the (tone|beep|signal)",
  "at the (tone|beep)",
  "you have reached the (voicemail|voice mail|mailbox|message|answering)",
  "(voicemail|voice mail|mailbox|answering machine|answering service)",
  "(forwarded|transferred) to … (voice|message|mailbox)",
  "can t (come to|answer|take) (the phone|your call|my phone)",
  "unable to (come to|answer|take) (the phone|your call|my phone)",
  "not available to take your call",
  "the person (you|that you) are … (calling|reach|call) … not available",
  // Portuguese
  "caixa (postal|de mensagens|de mensagem)",
  "deixe (a sua|sua|o seu|seu|uma|um) (mensagem|recado|nome)",
  "(apos|depois do|depois de ouvir) (o|ouvir o)? ?(sinal|bipe|bip|tom)",
  "(grave|gravar) (a sua|sua|o seu|seu|uma|um) (mensagem|recado)",
  "secretaria eletronica",
  "nao posso atender",
  "correio de voz",
  // Spanish
  "(deje|deja) (su|tu|un|el) (mensaje|nombre|recado)",
  "(despues|luego) (de la|del|de oir la|de) (senal|tono|pitido)",
  "buzon de voz",
  "contestador automatico",
  "no puedo (atender|contestar)",
  // German
  "nachricht nach dem (ton|signal|piepton|signalton|pfeifton)",
  "(nach dem|nach) (ton|signalton|piepton|pfeifton)",
  "(hinterlassen|hinterlasst|hinterlass) … nachricht",
  "(mailbox|anrufbeantworter|sprachbox)",
  "(derzeit|momentan|zurzeit|gerade|im moment) … nicht erreichbar",
  // French
  "(laissez|laisser) … message",
  "apres le (bip|signal|bip sonore|signal sonore)",
  "(boite|messagerie) vocale",
  "sur (la messagerie|le repondeur)",
  "repondeur",
  // Italian
  "(lasciate|lasci|lascia|lasciare) … messaggio",
  "dopo il (segnale|bip|tono|segnale acustico)",
  "segreteria telefonica",
  "casella vocale",
];

/**
 * True if words are from the greeting of a voicemail box, in English, Portuguese, Spanish, German, French or Italian.
 */
export const isVoicemailGreeting: (text: string) => boolean = phraseSearch(PHRASES);
