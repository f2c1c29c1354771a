import type { Texts } from "../dictionary.ts";
import type en from "../en/form-faults.ts";

export default {
  required: "Este campo é obrigatório.",
  too_short: "Este campo não pode ficar vazio.",
  too_long: "Isto é longo demais.",
  type_invalid: "Este valor tem a forma errada.",
  value_invalid: "Este valor não é permitido.",
  invalid_json: "Isto não é JSON válido.",
  unknown_field: "O servidor não conhece este campo.",
  phone_number_invalid: "Escreva o número com +, o código do país e 7 a 15 dígitos, como +12025550100.",
  voice_invalid: "Esta voz não existe.",
  voice_unavailable: "Esta voz não está disponível neste servidor.",
  text_unspeakable: "O texto não tem letra nem dígito, então não há o que falar.",
  placeholder_invalid:
    "Uma variável se escreve como {{nome}}: letras sem acento, dígitos e _, com uma letra no começo.",
  audio_unsupported: "Este arquivo não pode ser reproduzido. Escolha um WAV ou MP3 que não seja grande demais.",
  agent_unavailable: "O agente deste servidor não pode seguir estas instruções.",
  instance_not_found: "Este número não existe mais.",
  demo_token_restricted: "Este número não pode ser usado.",
  queue_full: "Há chamadas demais esperando neste número.",
  destination_not_allowed: "Não é permitido ligar para este número.",
  caller_id_not_allowed: "O provedor não permite esta identificação.",
  daily_call_limit: "O limite de chamadas por dia foi atingido.",
  variable_missing: "A mensagem precisa deste valor, e a linha não o tem.",
  duplicate: "Este número já está na lista. Ele recebe uma só ligação.",
  server_busy: "O servidor está ocupado. Tente de novo em um momento.",
} satisfies Texts<typeof en>;
