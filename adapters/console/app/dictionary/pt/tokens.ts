import type { Texts } from "../dictionary.ts";
import type en from "../en/tokens.ts";

export default {
  title: "Tokens",
  lead: "Programas usam um token para acessar a interface HTTP em seu nome. Dê um a cada programa: assim você revoga um sem afetar os outros.",
  create: "Criar token",
  empty: "Nenhum token ainda",
  emptyHelp:
    "Com um token, um programa seu lista números e faz chamadas. Ele é mostrado uma única vez, com um comando para testar na hora.",
  everything: "Tudo",
  demoOf: (instance: string) => `só ${instance}`,
  never: "Nunca",
  neverUsed: "Ainda não",
  expired: "Expirado",
  revoke: "Revogar",
  revokeNamed: (name: string) => `Revogar ${name}`,
  revokeTitle: (name: string) => `Revogar o token “${name}”?`,
  revokeConsequence:
    "Os programas que o usam serão recusados a partir de agora, e seus streams abertos terminam. Não há como desfazer.",
  revoked: "O token foi revogado.",
  newTitle: "Novo token",
  columns: {
    name: "Nome",
    access: "Acesso",
    used: "Último uso",
    expires: "Validade",
    created: "Criado em",
    actions: "Ações",
  },
  scopes: {
    read: { title: "Ler", help: "Ver números, chamadas, transcrições, gravações e eventos. Não altera nada." },
    call: { title: "Chamar", help: "Fazer chamadas, encerrá-las e transmitir o áudio delas." },
    admin: { title: "Administrar", help: "Criar, vincular e excluir números, gerenciar webhooks, apagar gravações." },
  },
  form: {
    name: "Nome",
    nameHint: "O programa que vai usá-lo, por exemplo “Back-end da loja”.",
    access: "Acesso",
    everythingHelp: "Lê, chama e administra.",
    some: "Só algumas coisas",
    someHelp: "Para um painel que só lê, ou um programa que só faz chamadas.",
    scopes: "O token pode",
    expiry: "Validade",
    lifetimes: { "0": "Sem prazo", "7": "7 dias", "30": "30 dias", "90": "90 dias", "365": "Um ano" },
    demo: "Token de demonstração",
    demoHint: "Um token de demonstração vê e usa só este número. Bom para experimentar ou para uma apresentação.",
    demoNone: "Não: todos os números",
    cancel: "Cancelar",
  },
  created: {
    title: (name: string) => `Token “${name}”`,
    once: "Copie o token agora: só uma impressão digital dele fica guardada, e ele nunca mais poderá ser mostrado.",
    token: "Token",
    examples: "Exemplos",
    done: "Já copiei",
  },
} satisfies Texts<typeof en>;
