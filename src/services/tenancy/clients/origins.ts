import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Client, ClientOrigin } from '../../../database/models/client.ts';
import { Domain } from '../../../database/models/domain.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { canonicalHost } from '../../../text/address.ts';
import { recordChange } from './client.ts';

// The origins that a proxy protects by forward auth. The origin alone identifies the client, so an
// origin belongs to one client of the instance. Unless the operator registers it, the organization
// must have verified its domain.

/** Removes all origins except `wanted` from the client, so that another client may get them. */
export async function releaseOrigins({ id }: Pick<Client, 'id'>, wanted: string[]): Promise<void> {
  // An origin that stays keeps its row, because its cookies refer to the row.
  await ClientOrigin.destroy({ where: { clientId: id, origin: { [Op.notIn]: wanted } } });
}

/** Locks the domains that decide who may have these origins, before any client is locked. */
export async function holdHosts({ actor }: Context, origins: string[]): Promise<void> {
  const name = origins.flatMap((origin) => namesAbove(new URL(origin).hostname));
  if (actor.kind !== 'operator' && name.length > 0)
    await hold.domains({ name: [...new Set(name)], state: 'Verified' }, 'kept');
}

/** Replaces the client's origins. Call it inside a transaction, with the client locked. */
export async function writeOrigins(
  ctx: Context,
  client: Pick<Client, 'id' | 'organizationId'>,
  wanted: string[],
): Promise<void> {
  const stored = await ClientOrigin.findAll({ where: { clientId: client.id } });
  const has = new Set(stored.map(({ origin }) => origin));
  await releaseOrigins(client, wanted);
  for (const origin of wanted) if (!has.has(origin)) await addOrigin(ctx, client, origin);
}

async function addOrigin(
  ctx: Context,
  { id: clientId, organizationId }: Pick<Client, 'id' | 'organizationId'>,
  origin: string,
): Promise<void> {
  const fault = await faultOfOrigin(ctx, organizationId, { origin, keeps: true });
  if (fault !== null) throw new Refusal(fault.code, fault.message, { hint: fault.hint });
  const byOperator = ctx.actor.kind === 'operator';
  await refusingDuplicate(ClientOrigin.create({ origin, clientId, byOperator }), taken(origin));
}

/**
 * Why the organization cannot give the origin to a client that does not have it, or null. With
 * `isReleased`, the same change takes the origin from another client of the organization. With
 * `keeps`, the domain that decides cannot be removed until the transaction ends.
 */
export async function faultOfOrigin(
  ctx: Context,
  organizationId: string,
  {
    origin,
    isReleased = false,
    keeps = false,
  }: { origin: string; isReleased?: boolean; keeps?: boolean },
) {
  const { hostname } = new URL(origin);
  if (canonicalHost(hostname) === canonicalHost(new URL(ctx.config.baseUrl).hostname))
    return {
      code: 'conflict' as const,
      message: `${origin} has the host of idctl itself: the application would get its cookies.`,
      hint: 'Give the application a host of its own.',
    };
  const byOperator = ctx.actor.kind === 'operator';
  const findOwner = keeps ? keepOwnerOfHost : findOwnerOfHost;
  if (!byOperator && (await findOwner(hostname)) !== organizationId)
    return {
      code: 'domain_unverified' as const,
      message: `${hostname} is not on a verified domain of your organization.`,
      hint: 'Verify its domain first, or ask the operator to register the origin.',
    };
  if (isReleased || (await ClientOrigin.findByPk(origin)) === null) return null;
  return taken(origin);
}

function taken(origin: string) {
  return {
    code: 'conflict' as const,
    message: `${origin} belongs to another client.`,
    hint: 'Remove it from that client first. If you cannot see the client, ask the operator.',
  };
}

/** The organization that verified the nearest domain at or above the host, or null. */
async function findOwnerOfHost(hostname: string): Promise<string | null> {
  return ownerIn(await Domain.findAll({ where: whereAbove(hostname) }));
}

/** Like `findOwnerOfHost`. That domain cannot be removed until the transaction ends. */
async function keepOwnerOfHost(hostname: string): Promise<string | null> {
  return ownerIn(await hold.domains(whereAbove(hostname), 'kept'));
}

function ownerIn(domains: Domain[]): string | null {
  const nearest = domains.toSorted((a, b) => b.name.length - a.name.length)[0];
  return nearest?.organizationId ?? null;
}

const whereAbove = (hostname: string) => {
  return { name: namesAbove(hostname), state: 'Verified' as const };
};

function namesAbove(hostname: string): string[] {
  const labels = canonicalHost(hostname).split('.');
  return labels.map((_label, at) => labels.slice(at).join('.'));
}

/**
 * Locks these domains of an organization, and the verified domains above and below those that will
 * be `changed`, because they decide who may have the hosts there.
 */
export async function holdDomains(
  own: { organizationId: string; name: string[] },
  how: 'alone' | 'whole',
  changed: string[],
): Promise<void> {
  const near = [{ name: changed.flatMap(namesAbove) }, ...changed.map(below)];
  const found = await Domain.findAll({
    where: { [Op.or]: [own, { state: 'Verified', [Op.or]: near }] },
    attributes: ['id', 'organizationId', 'name'],
    order: ['id'],
  });
  for (const { id, organizationId, name } of found) {
    const isOwn = organizationId === own.organizationId && own.name.includes(name);
    await hold.domain({ id }, isOwn ? how : 'kept');
  }
}

const below = (domain: string) => ({ name: { [Op.like]: `%.${domain}` } });

/**
 * Removes origins from clients whose organization has lost the domain, unless the operator
 * registered them. Call it after a domain was verified or removed, in the same transaction, which
 * begins with `holdDomains`.
 */
export async function dropLostOrigins(ctx: Context, domain: string): Promise<void> {
  const there = { [Op.or]: [{ [Op.like]: `%//${domain}%` }, { [Op.like]: `%.${domain}%` }] };
  const found = await ClientOrigin.findAll({ where: { byOperator: false, origin: there } });
  for (const row of found) {
    const { hostname } = new URL(row.origin);
    if (!namesAbove(hostname).includes(domain)) continue;
    const client = await Client.findByPk(row.clientId, { rejectOnEmpty: true });
    if ((await findOwnerOfHost(hostname)) === client.organizationId) continue;
    await row.destroy();
    await recordChange(ctx, client, ['forwardAuthOrigins']);
  }
}
