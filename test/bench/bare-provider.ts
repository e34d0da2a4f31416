import { startOpenIdProvider } from '../support/openid-provider.ts';

// `code-flow` compares idctl with this program: oidc-provider alone, in memory.

const redirect = 'https://app.example.test/callback';
const provider = await startOpenIdProvider({
  clients: [{ client_id: 'bench', client_secret: 'a secret', redirect_uris: [redirect] }],
  people: { ada: { email: 'ada@example.test', email_verified: true, name: 'Ada Byron' } },
});
process.send?.(provider.issuer);
process.once('disconnect', () => process.exit(0));
