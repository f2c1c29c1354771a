import type { Texts } from "../dictionary.ts";
import type en from "../en/status.ts";

export default {
  call: {
    QUEUED: "Na fila",
    RINGING: "Tocando",
    IN_PROGRESS: "Em andamento",
    COMPLETED: "Concluída",
    FAILED: "Falhou",
  },
  instance: {
    CREATED: "Não vinculado",
    CONFIGURED: "Desconectado",
    ACTIVE: "Ativo",
    DELETED: "Excluído",
  },
} satisfies Texts<typeof en>;
