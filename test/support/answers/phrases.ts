/** Sentences of one voice's language. */
export interface Phrases {
  /** Phrases of people who answer at home or in the street. */
  readonly short: readonly string[];
  /** Phrases of people who answer at work. */
  readonly business: readonly string[];
  /** Starts, middles and ends of machine greetings. */
  readonly opening: readonly string[];
  readonly middle: readonly string[];
  readonly closing: readonly string[];
}

/** The two halves share no sentence: the rules were tuned on the first and are measured on the second. */
export type Half = "tuning" | "measuring";

const ENGLISH: Readonly<Record<Half, Phrases>> = {
  tuning: {
    short: ["Hello?", "Yes?", "Hello, this is Anna.", "Hi, John speaking.", "Hello, who is this?", "Hey, what's up?"],
    business: [
      "Good morning, Miller and Sons, this is Maria speaking, how can I help you?",
      "City dental clinic, good afternoon.",
      "Customer service, you are speaking with Daniel, may I have your customer number please?",
      "Thank you for calling Northern Travel, my name is Peter, what can I do for you?",
    ],
    opening: [
      "Hi, you have reached Anna.",
      "Hello.",
      "You have reached the voicemail of John Miller.",
      "Your call has been forwarded to an automatic voice message system.",
    ],
    middle: [
      "I can't come to the phone right now.",
      "I am either away from my desk or on the other line.",
      "Our office is open from nine to five, Monday to Friday.",
      "The person that you are trying to reach is not available.",
    ],
    closing: ["Please leave a message after the tone.", "Leave your name and number, and I will call you back."],
  },
  measuring: {
    short: ["Hello.", "Yeah?", "Hello, Peter here.", "Hi, this is Sarah.", "Hello, can I help you?", "Speaking."],
    business: [
      "Good afternoon, you are through to Green Garden Hotel, Susan at the reception, how may I help?",
      "Law office of Brown and Clark, good morning.",
      "Hello, Pizza Roma, what would you like to order?",
      "Hello, Riverside school, this is the secretary speaking, who is calling please?",
    ],
    opening: [
      "Hey, it's Peter.",
      "Hi.",
      "This is the mailbox of Sarah Brown.",
      "Welcome to the message service of two zero two, five five five, zero one nine nine.",
    ],
    middle: [
      "Sorry that I missed your call.",
      "Nobody is available to take your call at the moment.",
      "If this is an emergency, please hang up and dial the number of the duty desk.",
      "We are closed for the holidays, and will be back on the second of January.",
    ],
    closing: [
      "Record your message at the beep.",
      "Just say who you are and what you want, and I will get back to you.",
    ],
  },
};

const PORTUGUESE: Readonly<Record<Half, Phrases>> = {
  tuning: {
    short: ["Alô?", "Oi?", "Alô, quem fala?", "Pois não?", "Oi, aqui é a Ana."],
    business: [
      "Clínica São Lucas, bom dia, Maria falando, em que posso ajudar?",
      "Padaria Central, boa tarde.",
      "Obrigado por ligar para a Viagens do Norte, meu nome é Pedro, como posso ajudar?",
    ],
    opening: ["Olá, você ligou para a Ana.", "Oi.", "Sua chamada está sendo encaminhada para a caixa postal."],
    middle: [
      "No momento não posso atender.",
      "O nosso horário de atendimento é das nove às dezoito horas.",
      "O número chamado não está disponível.",
    ],
    closing: ["Deixe sua mensagem após o sinal.", "Deixe seu nome e telefone, que eu retorno assim que puder."],
  },
  measuring: {
    short: ["Alô.", "Quem é?", "Alô, com quem deseja falar?", "Oi, tudo bem?", "Sim?"],
    business: [
      "Escola Monteiro Lobato, boa tarde, secretaria, com quem eu falo por favor?",
      "Hotel Jardim Verde, bom dia.",
      "Escritório Souza e Lima, bom dia, Carla falando, em que posso ser útil?",
    ],
    opening: ["Aqui é o Pedro.", "Olá.", "Esta é a caixa de mensagens da Sara."],
    middle: [
      "Desculpe por não atender a sua ligação.",
      "Estamos fechados para o feriado e voltamos no dia dois de janeiro.",
      "Ninguém está disponível para atender agora.",
    ],
    closing: ["Grave o seu recado após o bipe.", "Diga quem é e o que deseja, e eu ligo de volta."],
  },
};

/** The sentences of a language. */
export function phrasesOf(language: "en" | "pt", split: Half): Phrases {
  return (language === "en" ? ENGLISH : PORTUGUESE)[split];
}
