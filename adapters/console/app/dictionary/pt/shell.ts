import type { Texts } from "../dictionary.ts";
import type en from "../en/shell.ts";

export default {
  starting: "Carregando…",
  skip: "Ir para o conteúdo",
  home: "Ringport, visão geral",
  navigationLabel: "Console",
  navigation: {
    overview: "Início",
    instances: "Números",
    calls: "Chamadas",
    batches: "Lotes",
    phone: "Telefone",
    webhooks: "Webhooks",
    tokens: "Tokens",
  },
  accountOf: (email: string) => `Conta ${email}`,
  disconnected: "O servidor não responde. O que você vê pode estar desatualizado; a página se reconecta sozinha.",
  broken: "Esta página falhou",
  brokenLead: "O erro está no console do navegador. O resto do Ringport continua funcionando.",
  tryAgain: "Tentar de novo",
  missing: "Esta página não existe",
  missingLead: "O endereço está errado, ou o que ele mostrava foi excluído.",
  toOverview: "Ir para o início",
} satisfies Texts<typeof en>;
