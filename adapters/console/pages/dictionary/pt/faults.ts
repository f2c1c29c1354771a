import type { Texts } from "../dictionary.ts";
import type en from "../en/faults.ts";

export default {
  unexpected: "Algo inesperado deu errado. Tente de novo; os detalhes estão no console do navegador.",
  codes: {
    network_error: "O servidor não responde. Verifique sua conexão e tente de novo.",
    timeout: "O servidor demorou demais para responder. Tente de novo.",
    server_busy: "O servidor está muito ocupado agora. Tente de novo daqui a pouco.",
    too_many_attempts: "Tentativas demais. Espere alguns minutos e tente de novo.",
    rate_limited: "Requisições demais. Espere um momento e tente de novo.",
    sign_in_failed: "O e-mail ou a senha está errada.",
    registration_closed: "Você precisa de um convite para se cadastrar. Peça um a um administrador deste servidor.",
    code_invalid: "Este código está errado, já foi usado ou expirou. Peça um novo.",
    email_invalid: "Isto não é um endereço de e-mail. Escreva como nome@example.com.",
    email_taken: "Já existe uma conta com este e-mail. Entre com ela.",
    password_invalid: "Escolha uma senha mais longa: pelo menos 10 caracteres.",
    password_wrong: "A senha atual está errada.",
    last_admin: "Você é o único administrador, e outras pessoas têm contas aqui. Elas precisam excluir as delas antes.",
    token_invalid: "O token não foi criado: verifique o nome, a validade e as permissões.",
    instance_not_found: "Este número não existe mais.",
    call_not_found: "Esta chamada não existe mais.",
    webhook_not_found: "Este webhook não existe mais.",
    token_not_found: "Este token já foi revogado.",
    session_not_found: "Este navegador já saiu da conta.",
    invitation_not_found: "Este convite já foi usado ou cancelado.",
    unauthorized: "Você saiu da conta. Entre de novo.",
    insufficient_scope: "Sua conta não pode fazer isto.",
    storage_unavailable: "O banco de dados não responde agora. Nada foi alterado; tente de novo.",
  },
} satisfies Texts<typeof en>;
