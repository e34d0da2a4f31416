import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor, Context } from '../../src/context.ts';
import { Project } from '../../src/database/models/project.ts';
import { Refusal } from '../../src/errors.ts';
import { removeMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { revokeInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { deleteProject, renameProject } from '../../src/services/tenancy/projects/operations.ts';
import { organization, signedIn } from '../support/builders.ts';
import { type Company, foundCompany } from '../support/company.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import type { Person } from '../support/instance.ts';

// Some operations identify an object only by its id.
// The caller's role in the object's organization decides.

const unknown = '0198c0de-0000-7000-8000-000000000000';

let idctl: Idctl;
let company: Company;
let ids: Record<string, string>;
beforeAll(async () => {
  idctl = await openIdctl();
  company = await foundCompany(idctl);
  const { id } = await Project.findOne({ rejectOnEmpty: true });
  ids = { mapping: company.mapping, invitation: company.invitation, project: id };
});
afterAll(() => idctl.close());

type Act = (ctx: Context, id: string) => Promise<unknown>;

const acts: [name: string, kind: string, act: Act][] = [
  ['removing a mapping', 'mapping', (ctx, id) => removeMapping(ctx, { id })],
  ['revoking an invitation', 'invitation', (ctx, id) => revokeInvitation(ctx, { id })],
  [
    'renaming a project',
    'project',
    (ctx, project) => renameProject(ctx, { project, name: 'Other' }),
  ],
  ['deleting a project', 'project', (ctx, project) => deleteProject(ctx, { project })],
];

function session({ id, email, spareSession }: Person): Actor {
  return {
    kind: 'user',
    accountId: id,
    name: email,
    via: 'session',
    sessionId: spareSession,
  };
}

function readToken({ id, email, spareToken }: Person): Actor {
  const token = { via: 'pat' as const, tokenId: spareToken, scope: 'read' as const };
  return { kind: 'user', accountId: id, name: email, ...token };
}

/** The refusal, with the id replaced in its message. Null if the act is allowed. */
async function refusalOf(act: Act, actor: Actor, id: string) {
  try {
    await idctl.app.rehearse(() => act(idctl.as(actor), id));
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, hint } = error;
    return { code, message: message.replace(id, 'ID'), hint };
  }
}

describe.each(acts)('%s by its id', (_name, kind, act) => {
  const idOf = () => ids[kind] ?? '';

  test('works for the operator, an admin and an owner', async () => {
    const { admin, owner } = company;
    for (const actor of [
      { kind: 'operator', name: 'alex' } as const,
      session(admin),
      session(owner),
    ])
      expect(await refusalOf(act, actor, idOf())).toBeNull();
  });

  test('O7 is refused for accounts without the right as if the id did not exist', async () => {
    const { member, stranger, foreigner } = company;
    const missing = await refusalOf(act, session(stranger), unknown);
    expect(missing?.code).toBe('not_found');
    for (const person of [member, stranger, foreigner])
      expect(await refusalOf(act, session(person), idOf())).toEqual(missing);
    expect(await refusalOf(act, session(company.admin), unknown)).toEqual(missing);
  });

  test('is refused for an admin’s token of scope read, with the code scope_required', async () => {
    const refusal = await refusalOf(act, readToken(company.admin), idOf());
    expect(refusal?.code).toBe('scope_required');
  });

  test('is refused without a sign-in', async () => {
    const refusal = await refusalOf(act, { kind: 'anonymous' }, idOf());
    expect(refusal?.code).toBe('unauthenticated');
  });
});

test('O7 under their own organization, an owner does not reach an object of another one by its id', async () => {
  const { clientId, mapping, invitation, webhook, delivery } = company;
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  const requests: [method: string, path: string, body?: object][] = [
    ['GET', `clients/${clientId}`],
    ['PATCH', `clients/${clientId}`, { name: 'Other' }],
    ['POST', `clients/${clientId}/rotate`],
    ['DELETE', `clients/${clientId}`],
    ['DELETE', `group-mappings/${mapping}`],
    ['DELETE', `invitations/${invitation}`],
    ['GET', `projects/${ids['project']}/members`],
    ['PATCH', `projects/${ids['project']}`, { name: 'Other' }],
    ['DELETE', `projects/${ids['project']}`],
    ['GET', `webhooks/${webhook}/deliveries`],
    ['POST', `webhooks/${webhook}/test`],
    ['POST', `webhooks/${webhook}/deliveries/${delivery}/retry`],
    ['DELETE', `webhooks/${webhook}`],
    ['DELETE', `members/${company.member.id}`],
  ];
  for (const [method, path, body] of requests) {
    const answer = await client.send(method, `/api/v1/orgs/${slug}/${path}`, { body });
    expect([method, path, answer.status, answer.body.code]).toEqual([
      method,
      path,
      404,
      'not_found',
    ]);
  }
});

test('a request that names a project by its slug must also name the organization', async () => {
  const renaming: Act = (ctx, project) => renameProject(ctx, { project, name: 'Other' });
  const refusal = await refusalOf(renaming, session(company.admin), 'website');
  expect(refusal).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('org') });
});
