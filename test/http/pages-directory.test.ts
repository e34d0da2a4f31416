import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';
import { team } from '../support/team.ts';

// The pages about SCIM: its token, requests, people and groups, and the roles that groups give.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const of = ({ slug }: { slug: string }) => `/orgs/${slug}/directory`;

/** A team whose directory has sent a person and a group. */
async function provisioned() {
  const all = await team(idctl);
  const { slug } = all.org;
  const domain = await verifiedDomain(idctl, slug);
  const { token } = await rotateScimToken(idctl.operator(), { org: slug });
  const scim = clientOf(idctl, all.org, token);
  const userName = `mia@${domain}`;
  const { id: value } = await scim.create({ userName, externalId: 'e-1' });
  const group = await scim.send('POST', '/Groups', { displayName: 'Web', members: [{ value }] });
  return { ...all, scim, userName, groupId: group.body.id };
}

describe('the page about SCIM', () => {
  test('X10 only admins and owners open it; strangers get 404', async () => {
    const { org, clients, groupId } = await provisioned();
    const at = of(org);
    const parts = ['', '/requests', '/users', '/groups', '/mappings', '/token/revoke'];
    for (const part of [...parts, `/groups/${groupId}`]) {
      const statusOf = async (client: keyof typeof clients) =>
        (await open(clients[client], at + part)).status;
      const roles = ['owner', 'admin', 'member', 'stranger'] as const;
      const statuses = await Promise.all(roles.map(statusOf));
      expect([part, ...statuses]).toEqual([part, 200, 200, 403, 404]);
    }
    expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(at);
    expect((await open(clients.admin, `/orgs/${org.slug}`)).body).toContain(at);
  });

  test('X10 an owner creates and replaces the token, which is shown once; an admin only revokes it', async () => {
    const { org, clients } = await team(idctl);
    const at = of(org);
    const asAdmin = await open(clients.admin, at);
    expect(asAdmin.text).toContain('Only an owner can create one. Ask an owner.');
    expect(asAdmin.body).not.toContain(`action="${at}/token`);
    expect((await open(clients.admin, `${at}/token`)).status).toBe(403);
    for (const path of [`${at}/token`, `${at}/token/create`])
      expect((await clients.admin.form(path, {})).status).toBe(403);

    const page = await open(clients.owner, at);
    expect(page.text).toContain(`${idctl.baseUrl}/scim/v2/orgs/${org.id}`);
    const created = await page.submit(`${at}/token/create`);
    const shownIn = ({ body }: Opened) =>
      /<code class="secret">(scim_[^<]*)</.exec(String(body))?.[1] ?? '';
    const token = shownIn(created);
    const asks = async (secret: string) =>
      (await clientOf(idctl, org, secret).get('/Users')).status;
    expect(await asks(token)).toBe(200);
    const after = await open(clients.owner, at);
    expect(after.body).not.toContain(token);
    expect(after.text).toMatch(/Token scim_\w+… Created/);

    const replace = await open(clients.owner, `${at}/token`);
    expect(replace.text).toMatch(/Replace the SCIM token .*…\? The SCIM client cannot connect/);
    expect(await asks(token)).toBe(200);
    const next = shownIn(await replace.submit(`${at}/token`));
    expect([await asks(token), await asks(next)]).toEqual([401, 200]);

    const revoke = await open(clients.admin, `${at}/token/revoke`);
    expect(revoke.text).toContain('Revoke the SCIM token');
    const revoked = await revoke.submit(`${at}/token/revoke`);
    expect(revoked.text).toContain('The token was revoked.');
    expect(await asks(next)).toBe(401);
    const gone = await open(clients.owner, `${at}/token/revoke`);
    expect([gone.status, gone.body]).toEqual([404, expect.stringContaining(`href="${at}"`)]);
  });

  test('X10 a page that is out of date does not replace a token that was created meanwhile', async () => {
    const { org, clients } = await team(idctl);
    const at = of(org);
    const page = await open(clients.owner, at);
    const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
    const refused = await page.submit(`${at}/token/create`);
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringMatching(/already has a SCIM token\..*An owner can replace it\..*Token scim_/),
    ]);
    expect((await clientOf(idctl, org, token).get('/Users')).status).toBe(200);
    await (await open(clients.owner, `${at}/token/revoke`)).submit(`${at}/token/revoke`);
    expect((await open(clients.owner, `${at}/token`)).text).toContain('There is no token.');
  });

  test('shows what the directory sent, and why a request was refused', async () => {
    const { org, clients, scim, userName, groupId } = await provisioned();
    const at = of(org);
    await scim.send('POST', '/Users', { userName });
    const page = await open(clients.admin, at);
    expect(page.text).toMatch(/POST \/Users refused .*Status 409/);
    expect((await open(clients.admin, `${at}/requests`)).text).toContain('POST /Groups ok');
    const users = await open(clients.admin, `${at}/users`);
    expect(users.text).toContain(`${userName} active ID in your directory: e-1`);
    expect((await open(clients.admin, `${at}/groups`)).text).toContain('Web 1 person');
    expect((await open(clients.admin, `${at}/groups/${groupId}`)).text).toContain(userName);
    expect((await open(clients.admin, `${at}/groups/x`)).status).toBe(404);
  });

  test('X10 escapes the names that the directory sent', async () => {
    const { org, clients, scim } = await provisioned();
    await scim.send('POST', '/Groups', { displayName: '<img src=x>' });
    await scim.create({ userName: `"><b>@${org.slug}.example` }).catch(() => {});
    for (const part of ['/groups', '/users', '/requests'])
      expect((await open(clients.admin, of(org) + part)).body).not.toMatch(/<img|"><b>/);
  });
});

describe('the roles for groups', () => {
  test('an admin adds roles, and removes one after a page that says who loses what', async () => {
    const { org, clients, userName } = await provisioned();
    const at = `${of(org)}/mappings`;
    const empty = await open(clients.admin, at);
    expect(empty.text).toContain('There is no mapping.');
    expect(empty.text).toContain('There is no project. Create one first');
    await createProject(idctl.operator(), { org: org.slug, name: 'Website' });
    const page = await open(clients.admin, at);
    const given = { group: 'Web', project: 'website', role: 'commenter' };
    const added = await page.submit(at, given);
    expect(added.text).toContain('Members of the SCIM group have the role now.');
    expect(added.text).toContain('Web commenter In the project website');
    const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const byOrganization = { token, group: 'web', orgRole: 'member' };
    await clients.admin.form(at, byOrganization).then(({ body, status }) => {
      expect([status, body]).toEqual([200, expect.stringContaining('upper and lower case differ')]);
    });
    const like = await open(clients.admin, at);
    expect(like.text).toContain('web member In the organization');

    const [, id = ''] = /mappings\/([\w-]{36})\/remove/.exec(added.body) ?? [];
    const asks = await open(clients.admin, `${at}/${id}/remove`);
    expect(asks.text).toContain('Remove the mapping of Web to website as commenter?');
    expect(asks.text).toContain(`Roles from it: ${userName} in website.`);
    const removed = await asks.submit(`${at}/${id}/remove`);
    expect(removed.text).toContain('The mapping was removed.');
    expect(removed.text).not.toContain('Web commenter');
  });

  test('an admin changes the role or the project of a mapping in its row', async () => {
    const { org, clients } = await team(idctl);
    const at = `${of(org)}/mappings`;
    for (const name of ['Website', 'Wiki'])
      await createProject(idctl.operator(), { org: org.slug, name });
    const page = await open(clients.admin, at);
    await page.submit(at, { group: 'Dev', project: 'website', role: 'admin' });
    await page.submit(at, { group: 'Staff', orgRole: 'member' });
    const listed = await open(clients.admin, at);
    const [dev = '', staff = ''] = [...listed.body.matchAll(/action="([^"]+\/change)"/g)].map(
      ([, action]) => action,
    );
    const refused = await listed.submit(dev, { project: 'none', role: 'viewer' });
    expect([refused.status, refused.body.match(/<details open>/g)?.length]).toEqual([404, 1]);
    expect(refused.body).toContain('value="none"');
    const moved = await refused.submit(dev, { project: 'wiki', role: 'viewer' });
    expect(moved.text).toContain('The mapping was changed.');
    expect(moved.text).toContain('Dev viewer In the project wiki');
    const raised = await moved.submit(staff, { orgRole: 'admin' });
    expect(raised.text).toContain('Staff admin In the organization');
    const activity = await open(clients.admin, `/orgs/${org.slug}/activity`);
    expect(activity.text).toContain(
      'changed the role of the group Dev to viewer in the project wiki. It was admin in the project website.',
    );
  });

  test('a refused form keeps what was typed, in its own fields only', async () => {
    const { org, clients } = await team(idctl);
    const at = `${of(org)}/mappings`;
    await createProject(idctl.operator(), { org: org.slug, name: 'Website' });
    const page = await open(clients.admin, at);
    const refused = await page.submit(at, { group: 'Dev', project: 'website', role: 'king' });
    expect(refused.text).toContain('Role must be one of');
    expect(refused.body.match(/value="Dev"/g)).toHaveLength(1);
    expect(refused.body.match(/aria-invalid/g)).toHaveLength(1);
    const blank = await page.submit(at, { group: ' \t ', project: 'website', role: 'member' });
    expect([blank.status, blank.text]).toEqual([
      400,
      expect.stringContaining('Group must not consist of spaces.'),
    ]);
    const twice = { group: 'Dev', project: 'website', role: 'member' };
    await page.submit(at, twice);
    const again = await page.submit(at, twice);
    expect([again.status, again.body]).toEqual([409, expect.stringContaining('role="alert"')]);
  });

  test('the preview says what the next sign-in of a person would change', async () => {
    const { org, people, clients } = await team(idctl);
    const at = `${of(org)}/mappings`;
    await createProject(idctl.operator(), { org: org.slug, name: 'Website' });
    const page = await open(clients.admin, at);
    await page.submit(at, { group: 'Dev', project: 'website', role: 'member' });
    const user = people.member.email;
    const unknown = await page.submit(`${at}/preview`, { user, groups: '' });
    expect(unknown.status).toBe(409);
    expect(unknown.text).toContain('has no connection, and SCIM has not pushed groups');
    expect(unknown.text).not.toContain('--group');
    const seen = await unknown.submit(`${at}/preview`, { user, groups: 'Dev\nOps' });
    expect(seen.text).toContain(`The next sign-in of ${user} website added member From the group`);
    expect(seen.text).toContain('Groups: Dev, Ops');
    const listed = await clients.admin.get(`/api/v1/orgs/${org.slug}/projects/website/members`);
    expect(listed.body.items).toEqual([]);
    const nothing = await seen.submit(`${at}/preview`, { user, groups: 'Ops' });
    expect(nothing.text).toContain('It would change nothing.');
  });
});
