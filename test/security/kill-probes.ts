import { RecoveryCode } from '../../src/database/models/recovery-code.ts';
import { Refusal } from '../../src/errors.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { deliverWebhooks } from '../../src/services/tenancy/webhooks/delivery/deliver.ts';
import { fresh, password } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import { signInByLdap } from '../support/ldap.ts';
import type { MailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';
import { answerTo, optionsIn, signInByPasskey } from '../support/passkeys.ts';
import { isSignedBy } from '../support/receiver.ts';
import { clientOf } from '../support/scim-client.ts';
import { withGoogle } from '../support/social.ts';
import { comeBack } from '../support/sso.ts';
import { landsAtHost, opensHost, provesClient } from './kill-client.ts';
import { accessWorks, codeWorks, refreshWorks } from './kill-provider.ts';
import {
  bearing,
  mailedCode,
  methods,
  mint,
  type Scene,
  scopes,
  signUp,
  totpCode,
  type World,
} from './kill-scene.ts';

/** The instance and the scene in which a credential is tried. */
export interface Stage {
  idctl: MailingIdctl;
  scene: Scene;
  world: World;
}

interface Probe {
  /** The credential's name in docs/evidence/kill-matrix.md. */
  credential: string;
  /** The table that stores the credential. Null if the probe is only for access through one. */
  table: string | null;
  /** Whether the credential works when used as its holder would use it. */
  works(stage: Stage): Promise<boolean>;
}

/** Whether the answer is a success. Throws at a server error, which proves nothing. */
function isTaken({ status, body }: Answer): boolean {
  if (status >= 500) throw new Error(`a credential was answered ${status} ${JSON.stringify(body)}`);
  return status < 400;
}

/** Whether a sign-in reached Ada's account: it got a session, or was asked for a second factor. */
function isAda(answer: Answer, { ada }: Scene): boolean {
  if (answer.body.code === 'second_factor_required') return true;
  return isTaken(answer) && answer.body.user.id === ada.id;
}

const me = async ({ idctl }: Stage, credential: string) =>
  isTaken(await bearing(idctl, credential).get('/api/v1/me'));

const organization = async ({ idctl, scene }: Stage, credential: string) =>
  isTaken(await bearing(idctl, credential).get(`/api/v1/orgs/${scene.org.id}`));

const auth = ({ idctl }: Stage, path: string, body: object) =>
  idctl.client().post(`/api/v1/auth/${path}`, body);

/** Every kind of credential, in the order of the tries. Tries that may end others come last. */
export const probes: Probe[] = [
  // This comes first: a sign-in in another way ends the suspension by a restore.
  {
    credential: 'passkey',
    table: 'passkeys',
    works: async ({ idctl, scene }) =>
      isAda(await signInByPasskey(idctl.client({ keepCookies: true }), scene.passkey.held), scene),
  },
  ...methods.map((method) => ({
    credential: `session by ${method}`,
    table: 'sessions',
    works: (stage: Stage) => me(stage, stage.scene.sessions[method]),
  })),
  {
    credential: 'organization, by session',
    table: null,
    works: (stage) => organization(stage, stage.scene.sessions.password),
  },
  {
    credential: 'refresh token',
    table: 'refresh_tokens',
    works: async (stage) =>
      isTaken(await auth(stage, 'refresh', { refreshToken: stage.scene.sessions.refresh })),
  },
  ...scopes.map((scope) => ({
    credential: `token of scope ${scope}`,
    table: 'access_tokens',
    works: (stage: Stage) => me(stage, stage.scene.tokens[scope].token),
  })),
  {
    credential: 'organization, by token',
    table: null,
    works: (stage) => organization(stage, stage.scene.tokens.write.token),
  },
  {
    credential: 'bot token',
    table: 'access_tokens',
    works: (stage) => me(stage, stage.scene.bot),
  },
  {
    credential: 'app secret',
    table: 'apps',
    works: async ({ idctl, scene }) => isTaken(await mint(idctl, scene.app.form)),
  },
  {
    credential: 'SCIM token',
    table: 'scim_tokens',
    works: async ({ idctl, scene }) =>
      isTaken(await clientOf(idctl, scene.org, scene.scim).get('/Users?count=1')),
  },
  { credential: 'client secret', table: 'clients', works: provesClient },
  { credential: 'cookie of a protected host', table: 'host_sessions', works: opensHost },
  { credential: 'ticket to a protected host', table: 'host_tickets', works: landsAtHost },
  { credential: 'access token of an application', table: 'provider_records', works: accessWorks },
  { credential: 'refresh token of an application', table: 'provider_records', works: refreshWorks },
  { credential: 'code of an application', table: 'provider_records', works: codeWorks },
  {
    credential: 'setup link',
    table: 'setup_links',
    works: async (stage) => (await open(setupBrowser(stage), '/setup')).status === 200,
  },
  { credential: 'webhook secret', table: 'webhooks', works: signsDeliveries },
  {
    credential: 'password',
    table: 'accounts',
    works: async (stage) =>
      isAda(await auth(stage, 'login', { email: stage.scene.ada.email, password }), stage.scene),
  },
  {
    credential: 'LDAP identity',
    table: 'identities',
    works: async ({ idctl, scene }) =>
      isAda(await signInByLdap(idctl, { username: 'ada', org: scene.org.slug }), scene),
  },
  { credential: 'SSO identity', table: 'identities', works: signsInBySso },
  {
    credential: 'Google identity',
    table: 'identities',
    works: async ({ idctl, scene, world }) =>
      isAda((await withGoogle({ idctl, google: world.google }, 'ada')).answer, scene),
  },
  {
    credential: 'sign-in that waits for the second factor',
    table: 'pending_sign_ins',
    works: goesOn,
  },
  {
    credential: 'login link',
    table: 'login_links',
    works: async ({ idctl, scene }) => {
      const page = await open(idctl.client({ keepCookies: true }), scene.link);
      return isTaken(page) && isTaken(await page.submit('/login/link'));
    },
  },
  {
    credential: 'mailed code to sign in',
    table: 'mail_codes',
    works: async (stage) => {
      const { ada, codes } = stage.scene;
      const answer = await auth(stage, 'magic-code/verify', {
        email: ada.email,
        code: codes.signin,
      });
      return isAda(answer, stage.scene);
    },
  },
  {
    credential: 'mailed code to reset the password',
    table: 'mail_codes',
    works: async (stage) => {
      const { ada, codes } = stage.scene;
      const given = {
        email: ada.email,
        code: codes.reset,
        newPassword: 'a staple that nobody has',
      };
      const answer = await auth(stage, 'password/reset/confirm', given);
      return answer.body.code === 'second_factor_required' || isTaken(answer);
    },
  },
  {
    credential: 'mailed code to confirm an address',
    table: 'mail_codes',
    works: async (stage) => isTaken(await auth(stage, 'verify-email', stage.scene.nora)),
  },
  { credential: 'invitation sent', table: 'invitations', works: letsJoin },
  { credential: 'second factor', table: 'accounts', works: isAskedFor },
  { credential: 'recovery code', table: 'recovery_codes', works: recovers },
];

/** The browser that opened the setup link. */
export function setupBrowser({ idctl, scene }: Stage): Client {
  const client = idctl.client({ keepCookies: true });
  for (const [name, value] of Object.entries(scene.setupLink.cookies)) client.jar.set(name, value);
  return client;
}

/** Whether a new event is delivered, signed with the secret shown when the webhook was added. */
async function signsDeliveries({ idctl, scene, world }: Stage): Promise<boolean> {
  const before = world.receiver.received.length;
  try {
    await addDomain(idctl.operator(), { org: scene.org.id, domain: `${fresh('d')}.test` });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return false;
    throw error;
  }
  const anew = () => idctl.as({ kind: 'system', name: 'webhooks' });
  await deliverWebhooks(anew(), { stop: new AbortController().signal, anew });
  return world.receiver.received.slice(before).some((one) => isSignedBy(scene.webhook.secret, one));
}

async function signsInBySso({ idctl, scene, world }: Stage): Promise<boolean> {
  const client = idctl.client({ keepCookies: true });
  const start = await client.get(`/auth/sso/start?domain=${scene.domain}`);
  if (!isTaken(start)) return false;
  return isAda(
    await comeBack(client, await world.provider.signIn(start.body.authorizationUrl, 'ada')),
    scene,
  );
}

async function goesOn({ idctl, scene }: Stage): Promise<boolean> {
  const client = idctl.client({ keepCookies: true });
  for (const [name, value] of Object.entries(scene.pending)) client.jar.set(name, value);
  const answer = (body: object) => client.post('/api/v1/auth/second-factor', body);
  if (isTaken(await answer({ totpCode: totpCode(idctl, scene.totp) }))) return true;
  // If the account has no authenticator app, the passkey is the second factor.
  const passkeyOptions = optionsIn(await client.get('/login/code'));
  if (passkeyOptions === null) return false;
  const passkey = answerTo(passkeyOptions, scene.passkey.held);
  return isTaken(await answer({ passkey }));
}

/** Whether a newcomer who signs up with the invitation becomes a member. */
async function letsJoin(stage: Stage): Promise<boolean> {
  const { invitation, org } = stage.scene;
  // The mailed code also accepts the invitation, but only in the browser that signed up.
  const client = stage.idctl.client({ keepCookies: true });
  const newcomer = await signUp(stage.idctl, invitation.email, {
    client,
    invitation: invitation.token,
  });
  await client.post('/api/v1/auth/verify-email', newcomer);
  const { organizations } = (await client.get('/api/v1/me')).body;
  return organizations.some(({ id }: { id: string }) => id === org.id);
}

/** Whether a sign-in with a new mailed code and the recovery code uses the code up. */
async function recovers({ idctl, scene, ...more }: Stage): Promise<boolean> {
  const { email, id: accountId } = scene.ada;
  const unused = () => RecoveryCode.count({ where: { accountId } });
  const before = await unused();
  const code = await mailedCode(idctl, 'magic-code', email);
  const given = { email, code, recoveryCode: scene.recoveryCode };
  const answer = await auth({ idctl, scene, ...more }, 'magic-code/verify', given);
  return isAda(answer, scene) && (await unused()) < before;
}

/** Whether a sign-in with a new mailed code still needs a code of the authenticator. */
async function isAskedFor(stage: Stage): Promise<boolean> {
  const { email } = stage.scene.ada;
  const code = await mailedCode(stage.idctl, 'magic-code', email);
  const answer = await auth(stage, 'magic-code/verify', { email, code });
  return answer.body.methods?.includes('totp') === true;
}
