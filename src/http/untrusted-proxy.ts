import type { Request, RequestHandler } from 'express';
import type { App } from '../context.ts';
import { proxySeen } from '../services/instance/daemons.ts';
import { kindOf } from '../text/address.ts';
import { peerAddress } from './trace.ts';

const forwarding = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'];

/**
 * Notices the first request of a proxy on this machine or network, while no proxy is trusted (P9).
 * Logs it, and lets the daemon report it to the commands.
 */
export function noticeProxy(app: App): RequestHandler {
  let noticed = app.config.http.trustedProxies.length > 0;
  return (request, _response, next) => {
    const address = noticed ? null : proxyOf(request);
    if (address !== null) {
      noticed = true;
      app.log.warn(
        { address, settings: 'http.trustedProxies' },
        'requests come through a proxy that is not trusted, so all clients have its address',
      );
      proxySeen(app).resolve(address);
    }
    next();
  };
}

function proxyOf(request: Request): string | null {
  if (forwarding.every((name) => request.headers[name] === undefined)) return null;
  const address = peerAddress(request);
  return address !== null && ['loopback', 'private'].includes(kindOf(address)) ? address : null;
}
