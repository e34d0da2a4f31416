import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Domain } from '../../src/database/models/domain.ts';
import { transaction } from '../../src/database/transaction.ts';
import { regenerateApp, revokeApp } from '../../src/services/people/apps/operations.ts';
import { regenerateToken, revokeToken } from '../../src/services/people/tokens/operations.ts';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
import {
  disableUser,
  enableUser,
  setUserPassword,
} from '../../src/services/people/users/operations.ts';
import { revokeScimToken, rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { removeClient, rotateClient } from '../../src/services/tenancy/clients/operations.ts';
import {
  addDomain,
  assertDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { unlinkIdentities } from '../../src/services/tenancy/identities/operations.ts';
import { revokeInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { disableLdap, removeLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { resetMemberFactor } from '../../src/services/tenancy/second-factor/operations.ts';
import { revokeSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { disableSso, removeSso, saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { removeWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { organization, password } from '../support/builders.ts';
import { main, surroundings } from '../support/daemon.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';
import { registration, signInAt } from '../support/sso.ts';
import { type Stage, setupBrowser } from './kill-probes.ts';
import { bearing, expected, mailedCode, sessionOf, totpCode, type World } from './kill-scene.ts';

/** An act that may end credentials. It throws if it fails. */
type Act = (stage: Stage) => Promise<unknown>;

const newPassword = 'another horse battery';

/** Runs the acts for Ada, and for Nora, who has not confirmed her address. */
const both =
  (...acts: ((stage: Stage, user: string) => Promise<unknown>)[]): Act =>
  async (stage) => {
    for (const user of [stage.scene.ada.id, stage.scene.nora.email]) {
      for (const act of acts) await act(stage, user);
    }
  };

/** Ada's own client. Its session is not one of those that the matrix lists. */
const herself = ({ idctl, scene }: Stage) => bearing(idctl, scene.sessions.own);

const disable = ({ idctl }: Stage, user: string) => disableUser(idctl.operator(), { user });
const enable = ({ idctl }: Stage, user: string) => enableUser(idctl.operator(), { user });
const setPassword = (keepTokens: boolean) =>
  both(({ idctl }, user) =>
    setUserPassword(idctl.operator(), { user, password: newPassword, keepTokens }),
  );

/** Runs the act while Ada's organization does not own her domain: it manages her otherwise. */
async function asUnmanaged({ scene }: Stage, act: () => Promise<unknown>): Promise<void> {
  const mark = (state: 'Pending' | 'Verified') =>
    transaction(() => Domain.update({ state }, { where: { name: scene.domain } }));
  await mark('Pending');
  await act();
  await mark('Verified');
}

/** Confirms Ada's own session with her second factor. */
async function confirmed(stage: Stage) {
  const client = herself(stage);
  const code = { totpCode: totpCode(stage.idctl, stage.scene.totp) };
  expected(await client.post('/api/v1/auth/confirm', code));
  return client;
}

async function changeAddress(stage: Stage): Promise<void> {
  const { idctl, scene } = stage;
  const email = 'ada@elsewhere.test';
  await asUnmanaged(stage, async () => {
    const client = await confirmed(stage);
    expected(await client.post('/api/v1/me/email', { email }));
    const code = await idctl.codeFor(email);
    expected(await client.post('/api/v1/me/email/confirm', { email, code }));
  });
  stage.scene = { ...scene, ada: { ...scene.ada, email } };
}

const deleteOwn = (stage: Stage) =>
  asUnmanaged(stage, async () =>
    expected(await (await confirmed(stage)).send('DELETE', '/api/v1/me')),
  );

async function resetPassword({ idctl, scene }: Stage): Promise<void> {
  const confirm = async (email: string, code: string, more: object) =>
    expected(
      await idctl
        .client()
        .post('/api/v1/auth/password/reset/confirm', { email, code, newPassword, ...more }),
    );
  await confirm(scene.ada.email, scene.codes.reset, { totpCode: totpCode(idctl, scene.totp) });
  await confirm(scene.nora.email, await mailedCode(idctl, 'password/reset', scene.nora.email), {});
}

async function deactivateByScim({ idctl, scene }: Stage): Promise<void> {
  const client = clientOf(idctl, scene.org, scene.scim);
  const { Resources } = expected(await client.get('/Users'));
  const record = Resources.find(
    ({ userName }: { userName: string }) => userName === scene.ada.email,
  );
  expected(await client.patch(record.id, { op: 'replace', path: 'active', value: false }));
}

const giveDomainUp = ({ idctl, scene }: Stage) =>
  removeDomain(idctl.operator(), { org: scene.org.id, domain: scene.domain });

/** Ada loses her membership. Another organization verifies her domain and signs her in by SSO. */
async function takeOver(stage: Stage): Promise<void> {
  const { idctl, scene, world } = stage;
  await giveDomainUp(stage);
  await removeMember(idctl.operator(), { org: scene.org.id, user: scene.ada.id });
  const { slug: org } = await organization(idctl);
  await addDomain(idctl.operator(), { org, domain: scene.domain });
  await assertDomain(idctl.operator(), { org, domain: scene.domain });
  const { issuer } = world.provider;
  const sso = { org, emailDomain: scene.domain, issuer, ...registration, enabled: true };
  await saveSso(idctl.operator(), saveSsoInput.parse(sso));
  world.provider.people.set('next', {
    email: scene.ada.email,
    email_verified: true,
    name: 'Ada Byron',
  });
  const { answer } = await signInAt(idctl, world.provider, scene.domain, 'next');
  if (expected(answer).user.id !== scene.ada.id) throw new Error('the account was not taken over');
}

const everyToken =
  (act: (stage: Stage, id: string) => Promise<unknown>): Act =>
  async (stage) => {
    for (const { id } of Object.values(stage.scene.tokens)) await act(stage, id);
  };

const inOrganization = ({ idctl, scene }: Stage) =>
  [idctl.operator(), { org: scene.org.id }] as const;

/** The events of docs/evidence/kill-matrix.md by name, except those in `restores`. */
export const events: Record<string, Act> = {
  disabled: both(disable),
  'disabled and enabled': both(disable, enable),
  deleted: both(({ idctl }, user) => deleteUser(idctl.operator(), { user })),
  'own account deleted': deleteOwn,
  'operator sets password': setPassword(false),
  'operator sets password, `--keep-tokens`': setPassword(true),
  'own password changed': async (stage) => {
    const body = { currentPassword: password, newPassword };
    expected(await herself(stage).post('/api/v1/me/password', body));
  },
  'own address changed': changeAddress,
  'password reset by mail': resetPassword,
  'taken over by the domain’s next owner': takeOver,
  'second factor reset': ({ idctl, scene }) =>
    resetTotp(idctl.operator(), { user: scene.ada.id, passkeys: false }),
  'second factor reset, `--passkeys`': ({ idctl, scene }) =>
    resetTotp(idctl.operator(), { user: scene.ada.id, passkeys: true }),
  'second factor reset by the organization': ({ idctl, scene }) =>
    resetMemberFactor(idctl.operator(), { org: scene.org.id, user: scene.ada.id }),
  'passkey removed': async (stage) => {
    const client = await confirmed(stage);
    expected(await client.send('DELETE', `/api/v1/me/passkeys/${stage.scene.passkey.id}`));
  },
  'second factor disabled': async (stage) => {
    const code = totpCode(stage.idctl, stage.scene.totp);
    expected(await herself(stage).post('/api/v1/me/totp/disable', { code }));
  },
  'signed out': async ({ idctl, scene }) =>
    expected(await bearing(idctl, scene.sessions.password).post('/api/v1/auth/logout')),
  'signed out of the application': async (stage) => {
    const { clientId } = stage.scene.client;
    expected(await herself(stage).send('DELETE', `/api/v1/me/clients/${clientId}`));
  },
  'session by SSO revoked': async (stage) => {
    const id = sessionOf(stage.scene.sessions.SSO);
    expected(await herself(stage).send('DELETE', `/api/v1/me/sessions/${id}`));
  },
  'identities unlinked': ({ idctl, scene }) =>
    unlinkIdentities(idctl.operator(), { user: scene.ada.id }),
  'Google disconnected': async (stage) =>
    expected(await herself(stage).send('DELETE', '/api/v1/me/social/google')),
  'tokens regenerated': everyToken(({ idctl }, id) => regenerateToken(idctl.operator(), { id })),
  'tokens revoked': everyToken(({ idctl }, id) => revokeToken(idctl.operator(), { id })),
  'app regenerated': ({ idctl, scene }) => regenerateApp(idctl.operator(), { id: scene.app.id }),
  'app revoked': ({ idctl, scene }) =>
    revokeApp(idctl.operator(), { id: scene.app.id, keepTokens: false }),
  'app revoked, `--keep-tokens`': ({ idctl, scene }) =>
    revokeApp(idctl.operator(), { id: scene.app.id, keepTokens: true }),
  'removed from the organization': ({ idctl, scene }) =>
    removeMember(idctl.operator(), { org: scene.org.id, user: scene.ada.id }),
  'left the organization': async (stage) =>
    expected(await herself(stage).send('DELETE', `/api/v1/orgs/${stage.scene.org.id}/members/me`)),
  'deactivated by SCIM': deactivateByScim,
  'removed and added again, its domain given up': async ({ idctl, scene }) => {
    const org = scene.org.id;
    await removeDomain(idctl.operator(), { org, domain: scene.domain });
    await removeMember(idctl.operator(), { org, user: scene.ada.id });
    await addMember(idctl.operator(), { org, email: scene.ada.email ?? '', role: 'admin' });
  },
  'made a member only': ({ idctl, scene }) =>
    changeMemberRole(idctl.operator(), { org: scene.org.id, user: scene.ada.id, role: 'member' }),
  'SSO disabled': (stage) => disableSso(...inOrganization(stage)),
  'LDAP disabled': (stage) => disableLdap(...inOrganization(stage)),
  'SSO removed': (stage) => removeSso(...inOrganization(stage)),
  'LDAP removed': (stage) => removeLdap(...inOrganization(stage)),
  'domain given up': giveDomainUp,
  'SCIM token rotated': (stage) => rotateScimToken(...inOrganization(stage)),
  'SCIM token revoked': (stage) => revokeScimToken(...inOrganization(stage)),
  'webhook removed': ({ idctl, scene }) =>
    removeWebhook(idctl.operator(), { org: scene.org.id, id: scene.webhook.id }),
  'client rotated': ({ idctl, scene }) =>
    rotateClient(idctl.operator(), { org: scene.org.id, client: 'App' }),
  'client removed': ({ idctl, scene }) =>
    removeClient(idctl.operator(), { org: scene.org.id, client: 'App' }),
  'invitation revoked': ({ idctl, scene }) =>
    revokeInvitation(idctl.operator(), { org: scene.org.id, id: scene.invitation.id }),
  'setup link revoked': ({ idctl, scene }) =>
    revokeSetupLink(idctl.operator(), { id: scene.setupLink.id }),
  'setup link finished': async (stage) => {
    const page = await open(setupBrowser(stage), '/setup/done');
    if ((await page.submit('/setup/done')).status !== 200) throw new Error('not finished');
  },
  'organization deleted': (stage) => deleteOrganization(...inOrganization(stage)),
};

/** The events that restore a backup of the scene into another database, with their options. */
export const restores: Record<string, string[]> = {
  'backup restored': [],
  'backup restored, `--keep-tokens`': ['--keep-tokens'],
};

/** Backs up the scene and restores it with these options. Returns the URL of the new database. */
export async function restored({ place }: World, options: string[]): Promise<string> {
  const run = (words: string[], database: string) =>
    promisify(execFile)(process.execPath, [main, ...words], {
      env: { ...surroundings(), IDCTL_DATABASE: database, IDCTL_KEY_FILE: place.keyFile },
    });
  const file = join(place.keyFile, '..', `${crypto.randomUUID()}.backup`);
  await run(['backup', file], place.url);
  const target = await freshDatabaseUrl();
  await run(['restore', file, ...options], target);
  return target;
}
