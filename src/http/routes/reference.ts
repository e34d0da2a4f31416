import { z } from 'zod';
import { jwksView, viewJwks } from '../../services/foundation/keys/signing-key.ts';
import { readVersion } from '../../version.ts';
import { describeSurface } from '../openapi.ts';
import { type Route, routeTo } from '../route.ts';

/** The OpenAPI document of these routes and of itself. */
export function referenceRoutes(routes: Route[]): Route[] {
  const reference: Route = routeTo('public', 'GET', '/api/v1/openapi.json', {
    summary: 'This document (OpenAPI 3.1)',
    input: z.strictObject({}),
    output: z.looseObject({ openapi: z.string() }),
    run: (ctx) =>
      describeSurface([...routes, reference], {
        name: ctx.config.instance.name,
        version: readVersion(),
        baseUrl: ctx.config.baseUrl,
      }),
  });
  return [reference];
}

/** The public keys that verify session tokens, ID tokens and logout tokens. */
export const keyRoutes = [
  routeTo('public', 'GET', '/.well-known/jwks.json', {
    summary: 'The public signing keys (RFC 7517)',
    input: z.strictObject({}),
    output: jwksView,
    run: viewJwks,
  }),
];
