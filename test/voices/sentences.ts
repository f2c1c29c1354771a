/**
 * Ten sentences of telephone messages by language. They have no numbers, which one recogniser writes as digits and
 * another in words.
 */
export const SENTENCES: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "en",
    [
      "Your appointment with the doctor is confirmed for Monday morning.",
      "Please bring your insurance card and a list of your medicines.",
      "The parcel was delivered to your neighbour this afternoon.",
      "Our office will be closed on Friday because of the holiday.",
      "A table by the window is reserved for you this evening.",
      "The technician will call you before he arrives at your house.",
      "We could not reach you, so we will try again tomorrow.",
      "The train to the airport leaves from another platform today.",
      "If you want to cancel, please tell us as soon as possible.",
      "Thank you for your patience, and have a pleasant weekend.",
    ],
  ],
  [
    "pt",
    [
      "Sua consulta com a médica está confirmada para segunda de manhã.",
      "Por favor, traga o cartão do convênio e a lista dos seus remédios.",
      "A encomenda foi entregue ao seu vizinho hoje à tarde.",
      "Nosso escritório vai ficar fechado na sexta por causa do feriado.",
      "Uma mesa perto da janela está reservada para você esta noite.",
      "O técnico vai ligar antes de chegar na sua casa.",
      "Não conseguimos falar com você, então vamos tentar amanhã.",
      "O trem para o aeroporto sai hoje de outra plataforma.",
      "Se quiser cancelar, avise a gente o mais cedo possível.",
      "Obrigado pela paciência e tenha um ótimo fim de semana.",
    ],
  ],
  [
    "es",
    [
      "Su cita con la doctora está confirmada para el lunes por la mañana.",
      "Por favor, traiga la tarjeta del seguro y la lista de sus medicinas.",
      "El paquete fue entregado a su vecino esta tarde.",
      "Nuestra oficina estará cerrada el viernes por ser un día festivo.",
      "Una mesa junto a la ventana está reservada para usted esta noche.",
      "El técnico le llamará antes de llegar a su casa.",
      "No pudimos hablar con usted, así que lo intentaremos mañana.",
      "El tren al aeropuerto sale hoy de otro andén.",
      "Si quiere cancelar, avísenos lo antes posible.",
      "Gracias por su paciencia y que tenga un buen fin de semana.",
    ],
  ],
]);
