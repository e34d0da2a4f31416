import { type Bind, startBind } from './bind.ts';
import { freshDatabaseUrl } from './database.ts';
import { startOpenIdProvider } from './openid-provider.ts';
import { freePorts } from './ports.ts';

/** The client secret of idctl at the provider. */
export const clientSecret = 'the-client-secret-of-idctl';

/** The servers for a transcript of a sign-in: the DNS of acme.test, and its people's provider. */
export interface SignOnSite {
  bind: Bind;
  issuer: string;
  /** The port of the daemon, which the transcript starts. */
  port: number;
  /** The environment of idctl, with an empty database. */
  env(): Promise<Record<string, string>>;
  /** Signs an account in at the provider, as a browser would, and returns the callback path. */
  signIn(account: string, url: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts BIND and a provider where Ada has these groups. */
export async function startSignOnSite(groups?: string[]): Promise<SignOnSite> {
  const [port = 0] = await freePorts(1);
  const redirect = `http://127.0.0.1:${port}/auth/sso/callback`;
  const bind = await startBind('acme.test');
  const provider = await startOpenIdProvider({
    clients: [{ client_id: 'idctl', client_secret: clientSecret, redirect_uris: [redirect] }],
    people: { ada: { email: 'ada@acme.test', email_verified: true, name: 'Ada Byron', groups } },
  });
  return {
    bind,
    issuer: provider.issuer,
    port,
    env: async () => ({
      IDCTL_DATABASE: await freshDatabaseUrl(),
      IDCTL_DOH_RESOLVER_URL: bind.resolverUrl,
      IDCTL_DOH_CA_FILE: bind.caFile,
      IDCTL_OUTBOUND_ALLOW: '127.0.0.1',
    }),
    signIn: async (account, url) => {
      const { pathname, search } = new URL(await provider.signIn(url, account));
      return pathname + search;
    },
    stop: async () => {
      await provider.stop();
      await bind.stop();
    },
  };
}
