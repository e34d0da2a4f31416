import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import helmet from 'helmet';

// The interactive reference (spec §4.4): Swagger UI from disk. Its content security policy does not
// allow anything from other hosts. The bundle does not declare that it is UTF-8, so the response
// must.

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

/** Serves the reference page at `/api/v1/docs` and its assets. */
export function serveReference(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use('/api/v1/docs', policy);
  const asset = (name: string) => () => readFileSync(join(assets(), name));
  const files = [
    ['', 'html', () => page],
    ['/start.js', 'javascript', () => start],
    ['/swagger-ui.css', 'css', asset('swagger-ui.css')],
    ['/swagger-ui-bundle.js', 'javascript', asset('swagger-ui-bundle.js')],
  ] as const;
  for (const [path, type, read] of files)
    router.get(`/api/v1/docs${path}`, send(`text/${type}; charset=utf-8`, read));
  return router;
}

const policy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
  },
});

/** Reads the content at the first request and keeps it in memory. */
function send(type: string, read: () => string | Buffer): RequestHandler {
  let kept: string | Buffer | undefined;
  return (_request, response) => {
    kept ??= read();
    response.set('Content-Type', type).end(kept);
  };
}

function assets(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}
