import { accountPages } from './account/forms.ts';
import { directoryPages } from './login/directory.ts';
import { forwardPage } from './login/forward.ts';
import { acceptPage } from './login/invitation.ts';
import { mailCodePages } from './login/mail-code.ts';
import { resetPages } from './login/reset.ts';
import {
  linkPages,
  passkeyPage,
  passwordPage,
  secondFactorPages,
  signInPage,
} from './login/sign-in.ts';
import { signUpPages, verifyPages } from './login/sign-up.ts';
import { logoutPages } from './logout.ts';
import type { Page } from './page.ts';

/** Every page and every form. */
export const pages: Page[] = [
  signInPage,
  passwordPage,
  passkeyPage,
  ...linkPages,
  ...directoryPages,
  ...secondFactorPages,
  ...mailCodePages,
  ...signUpPages,
  ...verifyPages,
  ...resetPages,
  acceptPage,
  forwardPage,
  ...accountPages,
  ...logoutPages,
];
