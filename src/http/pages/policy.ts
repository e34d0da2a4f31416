import type { Config } from '../../config/schema.ts';

/**
 * What a page may do: nothing but show its own style and images and send its forms here. Chromium holds the redirect
 * after a form to `form-action` too, so the places that a sign-in may return to stand there. With `no-referrer`
 * it would send forms with `Origin: null`.
 */
export function pagePolicy({ http }: Pick<Config, 'http'>): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    `form-action ${["'self'", ...http.returnToOrigins].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}
