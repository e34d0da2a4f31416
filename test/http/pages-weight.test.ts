import { afterAll, beforeAll, expect, test } from 'vitest';
import { pages } from '../../src/http/surface.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { createSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { peopled } from '../support/peopled.ts';
import { clientOf } from '../support/scim-client.ts';

// Every page of an organization whose lists are full weighs at most 60 KB, with its style and script.

const maxBytes = 60 * 1024;

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const many = (count: number) => Array.from({ length: count }, (_, at) => at);

/** An organization with more of everything than a page shows. */
async function full() {
  const names = many(60).map((at) => `Augusta Ada King-Noel the ${at}th`);
  const { org, client } = await peopled(idctl, names);
  const operator = idctl.operator();
  const at = { org: org.slug };
  const domain = `${org.slug}.example`;
  for (const number of many(10))
    await addDomain(operator, { ...at, domain: `d${number}.${domain}` });
  await addDomain(operator, { ...at, domain });
  for (const number of many(60))
    await createProject(operator, { ...at, name: `Project number ${number}`, slug: `p${number}` });
  const { items } = (await client.get(`/api/v1/orgs/${org.slug}/members?limit=60`)).body;
  for (const { userId } of items)
    await putProjectMember(operator, { ...at, project: 'p1', user: userId, role: 'member' });
  for (const number of many(60)) {
    const group = `CN=Engineering ${number},OU=Groups,DC=acme,DC=example`;
    await addMapping(operator, { ...at, group, project: 'p1', role: 'commenter' });
  }
  const made = [];
  for (const number of many(60)) {
    const email = `person.number.${number}@vendor.example`;
    made.push(await createInvitation(operator, { ...at, email, role: 'member' }));
  }
  const redirectUris = ['https://wiki.example/callback'];
  const clients = [];
  for (const number of many(60)) {
    const given = { ...at, name: `Application number ${number}`, redirectUris };
    clients.push(await createClient(operator, createClient.input.parse(given)));
  }
  for (const number of many(20)) {
    await createSetupLink(operator, createSetupLink.input.parse({ ...at, for: ['domain', 'sso'] }));
    const url = `https://hooks.example/${number}`;
    await addWebhook(operator, addWebhook.input.parse({ ...at, url }));
  }
  const { token } = await rotateScimToken(operator, at);
  const scim = clientOf(idctl, org, token);
  for (const number of many(60)) await scim.create({ userName: `pushed${number}@${domain}` });
  const values: Record<string, string> = {
    ...{ org: org.slug, user: items[0].userId, domain, project: 'p1' },
    ...{ id: made[0]?.id ?? '', client: clients[0]?.clientId ?? '' },
  };
  return { client, values };
}

test('a page with full lists weighs at most 60 KB, with what it loads', async () => {
  const { client, values } = await full();
  const assets = new Map<string, number>();
  const weightOf = async (path: string) => {
    const known = assets.get(path);
    if (known !== undefined) return known;
    const weight = Buffer.byteLength(String((await client.get(path)).body));
    assets.set(path, weight);
    return weight;
  };
  const weights: Record<string, number> = {};
  for (const { path } of pages.filter(({ method }) => method === 'GET')) {
    const filled = path.replace(/:(\w+)/g, (_, key: string) => values[key] ?? key);
    const { body, headers } = await open(client, filled);
    if (!String(headers['content-type']).includes('text/html')) continue;
    const html = String(body);
    const loaded = [...html.matchAll(/<(?:link|script|img)[^>]* (?:href|src)="(\/[^"]+)"/g)];
    let weight = Buffer.byteLength(html);
    for (const [, asset = ''] of loaded) weight += await weightOf(asset);
    weights[path] = weight;
  }
  expect(Object.keys(weights).length).toBeGreaterThan(30);
  const heavy = Object.entries(weights).filter(([, weight]) => weight > maxBytes);
  expect(heavy).toEqual([]);
});
