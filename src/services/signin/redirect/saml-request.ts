import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { after } from '../../foundation/time.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { flowOf, isSameBrowser, proofOfBrowser, stateSeconds } from './browser.ts';

// The id of a SAML request is the state of its sign-in: signed, bound to the connection and to the
// browser. So starting a sign-in does not cost a write, and the answer names its start in
// InResponseTo. It is short, because providers may store it.

/** The parts of an id and their bytes, in order. The last one is the signature of the others. */
const sizes = { nonce: 16, expires: 4, connection: 16, browser: 16, mac: 16 };
const size = Object.values(sizes).reduce((sum, one) => sum + one);

/** A sign-in that was started at this connection, and has not expired. */
export interface SamlStart {
  id: string;
  expiresAt: Date;
  /** Whether the flow cookie is that of the browser in which the sign-in began (security S3). */
  isSameBrowser: (flow: string | undefined) => boolean;
}

type Starting = Pick<SsoConnection, 'id' | 'issuer'>;

/** Begins a sign-in: the id of the request, its RelayState, and the flow cookie of the browser. */
export function beginSamlFlow(
  ctx: Context,
  connection: Starting,
  { flow: given, returnTo }: { flow: string | undefined; returnTo: string },
) {
  const flow = flowOf(given);
  const nonce = randomBytes(sizes.nonce);
  const expires = Buffer.alloc(sizes.expires);
  expires.writeUInt32BE(Math.ceil(after(ctx.now, stateSeconds).getTime() / 1000));
  const browser = Buffer.from(proofOfBrowser(ctx, nonce.toString('base64url'), flow), 'base64url');
  const parts = [nonce, expires, digestOf(connection), browser.subarray(0, sizes.browser)];
  const signed = Buffer.concat(parts);
  const id = `_${Buffer.concat([signed, macOf(ctx, signed)]).toString('base64url')}`;
  const cookie = { flow, flowExpiresIn: stateSeconds };
  return { id, relayState: relayStateOf(ctx, id, returnTo), cookie };
}

/** Reads a start of this connection. Refuses with `signin_failed` (security S11). */
export function requireStart(ctx: Context, connection: Starting, id: string | null): SamlStart {
  const bytes = Buffer.from(id?.slice(1) ?? '', 'base64url');
  const isWhole = bytes.length === size && id === `_${bytes.toString('base64url')}`;
  const signed = bytes.subarray(0, size - sizes.mac);
  if (
    id === null ||
    !isWhole ||
    !timingSafeEqual(macOf(ctx, signed), bytes.subarray(signed.length))
  )
    throw signInFailed('state_invalid');
  const at = sizes.nonce + sizes.expires;
  const expiresAt = new Date(bytes.readUInt32BE(sizes.nonce) * 1000);
  const isOfConnection = digestOf(connection).equals(bytes.subarray(at, at + sizes.connection));
  if (!isOfConnection || ctx.now >= expiresAt) throw signInFailed('state_invalid');
  const nonce = bytes.subarray(0, sizes.nonce).toString('base64url');
  const browser = bytes.subarray(at + sizes.connection, signed.length);
  return { id, expiresAt, isSameBrowser: (flow) => isSameBrowser(ctx, nonce, browser, flow) };
}

/** A changed entity ID makes the starts of a connection invalid (security S6). */
function digestOf({ id, issuer }: Starting): Buffer {
  return createHash('sha256').update(`${id} ${issuer}`).digest().subarray(0, sizes.connection);
}

function macOf(ctx: Pick<Context, 'keyring'>, signed: Buffer | string): Buffer {
  const key = ctx.keyring.derive('saml-request');
  return createHmac('sha256', key).update(signed).digest().subarray(0, sizes.mac);
}

// A provider may change or drop the RelayState. Then the person goes to the start page.

function relayStateOf(ctx: Context, id: string, returnTo: string): string {
  return returnTo === '/' ? '' : `${relayMac(ctx, id, returnTo)}${returnTo}`;
}

/** Where the person goes after the sign-in with this request. */
export function returnToIn(ctx: Context, id: string, relayState = ''): string {
  const returnTo = relayState.slice(macLength);
  const isOurs = returnTo !== '' && relayState.startsWith(relayMac(ctx, id, returnTo));
  return isOurs ? returnTo : '/';
}

const macLength = Buffer.alloc(sizes.mac).toString('base64url').length;

function relayMac(ctx: Context, id: string, returnTo: string): string {
  return macOf(ctx, `${id} ${returnTo}`).toString('base64url');
}
