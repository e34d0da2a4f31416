import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * A strict policy for an API without markup. Helmet's default also upgrades http: to https:. The
 * headers are the same for each request, so helmet runs once.
 */
export function securityHeaders(own: string): RequestHandler {
  const sample = new ServerResponse(new IncomingMessage(new Socket()));
  const apply = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    strictTransportSecurity: own.startsWith('https:') && {
      maxAge: 31_536_000,
      includeSubDomains: false,
    },
    xFrameOptions: { action: 'deny' },
  });
  const headers: [name: string, value: string][] = [];
  // Node would return the names in lower case.
  sample.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return sample;
  };
  apply(sample.req, sample, () => {});
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}
