/** The word by which the scripts of the shells ask; no command, so that it stands in no help. */
export const asking = '__complete';
