import type { Texts } from "../dictionary.ts";
import type en from "../en/sign-in.ts";

export default {
  email: "E-mail",
  password: "Senha",
  passwordHint: "Pelo menos 10 caracteres. Algumas palavras seguidas são fáceis de lembrar e difíceis de adivinhar.",
  signIn: {
    title: "Entrar",
    lead: "Números, chamadas e tokens deste servidor.",
    action: "Entrar",
    noAccount: "Ainda não tem conta?",
    register: "Cadastre-se",
    invitation: "Ainda não tem conta? Um administrador deste servidor pode enviar um convite.",
    forgotten: "Esqueceu a senha?",
    forgottenHelp:
      "O Ringport não envia e-mails. Quem opera o servidor pode gerar um código para você com este comando:",
  },
  register: {
    title: "Cadastro",
    titleFirst: "Boas-vindas ao Ringport",
    lead: "Uma conta guarda seus números, suas chamadas e seus tokens.",
    leadFirst: "Você é a primeira pessoa aqui; esta conta será a do administrador.",
    leadInvitation: "O cadastro neste servidor é feito por convite.",
    hasCode: "Seu código veio no endereço. Escolha como você vai entrar daqui em diante.",
    code: "Código do convite",
    codeFirst: "Código de uso único",
    codeHint: "O código do endereço que um administrador enviou a você.",
    codeHintFirst: "O servidor imprimiu um código de uso único ao iniciar, no terminal ou no log.",
    action: "Criar conta",
    hasAccount: "Já tem uma conta?",
    signIn: "Entrar",
  },
  reset: {
    title: "Escolha uma nova senha",
    lead: "Todos os outros navegadores conectados a esta conta serão desconectados.",
    code: "Código",
    codeHint: "O código que o operador do servidor enviou a você.",
    password: "Nova senha",
    action: "Salvar e entrar",
  },
} satisfies Texts<typeof en>;
