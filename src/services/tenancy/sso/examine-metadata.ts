import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { SsoConnection, StoredMetadata } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import {
  type Finding,
  found,
  right,
  type Step,
  skipped,
  takingSteps,
  wrong,
} from '../../../finding.ts';
import { counted } from '../../../text/words.ts';
import { requireMetadata } from './connection.ts';
import { toStore } from './metadata.ts';
import { ourSaml } from './our-party.ts';

/** The organization whose connection is tested, and the connection; null if it has none. */
export interface TestedConnection {
  organization: Organization;
  stored: SsoConnection | null;
}

interface Given {
  metadataUrl?: string | null | undefined;
  metadataXml?: string | undefined;
}

/** Examines a SAML provider step by step, by its metadata. Without given metadata, by the stored. */
export async function examineMetadata(
  ctx: Context,
  given: Given,
  { organization, stored }: TestedConnection,
): Promise<Step[]> {
  const { steps, take } = takingSteps(async (look) => look());
  const url = given.metadataUrl ?? stored?.metadataUrl ?? null;
  const from = url === null ? 'as it was given' : 'at its URL';
  const read = await take('metadata', `the metadata of a SAML provider, ${from}`, () =>
    readable(async () => {
      const { saml } = ctx.outbound;
      if (given.metadataXml !== undefined)
        return toStore(await saml.readMetadata(given.metadataXml));
      if (url === null && stored !== null) return requireMetadata(stored);
      return toStore((await saml.fetchMetadata(url ?? '')).metadata);
    }),
  );
  if (!read.ok) return steps;
  const { entityId, certificates, ssoUrl } = read.value;
  if (stored !== null)
    await take('entity ID', `exactly ${stored.issuer}`, () => examineEntity(stored, entityId));
  await take('certificates', 'certificates that are valid now', () =>
    examineCertificates(certificates, ctx.now),
  );
  await take('sign-in URL', 'a URL that browsers can open', () =>
    ctx.outbound.examineAddress({ url: new URL(ssoUrl), now: ctx.now, isOurs: false }),
  );
  await take('registration', 'the provider knows idctl', () => tellOurs(ctx, organization));
  return steps;
}

async function readable(read: () => Promise<StoredMetadata>): Promise<Finding<StoredMetadata>> {
  try {
    return found(await read(), 'it can be read');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return wrong(error.message.replace(/\.$/, ''), error.hint ?? 'Check the metadata.');
  }
}

function examineEntity({ issuer }: SsoConnection, entityId: string): Finding {
  if (entityId === issuer) return right('the same');
  return wrong(
    'the metadata names another entity ID',
    'If the provider has changed, save the connection with the new metadata. An owner then approves it.',
  );
}

/** How long before its end a certificate is named, in milliseconds. */
const warnBefore = 30 * 24 * 3600 * 1000;

/** A certificate that has ended still proves an answer, so it is named and is not a fault. */
function examineCertificates(certificates: StoredMetadata['certificates'], now: Date): Finding {
  const day = ({ notAfter }: { notAfter: string }) => notAfter.slice(0, 10);
  const valid = certificates.filter(({ notAfter }) => new Date(notAfter) > now);
  const until = valid.map(day).toSorted().join(', ');
  const ending = certificates.filter(
    ({ notAfter }) => new Date(notAfter).getTime() - now.getTime() < warnBefore,
  );
  const count = counted(certificates.length, 'certificate', 'certificates');
  const seen = `names ${count}${valid.length === 0 ? '' : `, valid until ${until}`}`;
  if (ending.length === 0) return right(seen);
  const named = ending.map((one) => {
    const isOver = new Date(one.notAfter) <= now;
    return `${one.fingerprint} ${isOver ? 'ended' : 'ends'} on ${day(one)}`;
  });
  return right(
    seen,
    `${named.join('; ')}. Renew it at the provider, and then give idctl the new metadata.`,
  );
}

function tellOurs(ctx: Context, { id }: Organization): Finding {
  const { entityId, acsUrl } = ourSaml(ctx, id);
  return skipped('the provider does not tell', [
    `Enter at the provider: the entity ID ${entityId} and the ACS URL ${acsUrl}.`,
    `A provider that reads metadata finds both at ${entityId}.`,
  ]);
}
