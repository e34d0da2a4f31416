import { isIP } from 'node:net';
import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';

type Configured = Pick<Context, 'config'>;

/** The relying party of every passkey: the host and the origin of `baseUrl`, exactly. */
export function relyingPartyOf({ config }: Configured) {
  const { hostname, origin } = new URL(config.baseUrl);
  return { id: hostname, name: config.instance.name, origin };
}

/** Why browsers do not create passkeys at `baseUrl`; null if they do. */
export function findPasskeyObstacle({ config }: Configured): string | null {
  const { hostname, protocol } = new URL(config.baseUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return `baseUrl needs a host name, not ${hostname}`;
  const local = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || local ? null : `baseUrl is plain http on ${hostname}`;
}

/** Refuses with `passkeys_unavailable` if browsers do not create passkeys at `baseUrl`. */
export function requireAddressForPasskeys(ctx: Configured): void {
  const obstacle = findPasskeyObstacle(ctx);
  if (obstacle === null) return;
  throw new Refusal('passkeys_unavailable', 'Passkeys do not work at this address.', {
    hint: `Passkeys need https and a host name: ${obstacle}.`,
  });
}
