import { playTranscripts } from '../support/transcripts.ts';

playTranscripts(/^[f-o]/);
