<?php

/*
 * Sends mail.
 */

declare(strict_types=1);

namespace App\Mail;

use App\Models\User;
use App\Support\{Clock, Queue as Jobs};
use function App\Helpers\render;
use Psr\Log\LoggerInterface as Logger;

require_once __DIR__ . '/bootstrap.php';

const MAX_MAILS = 10;

/**
 * Something to send.
 */
interface Sendable extends \Countable
{
    public function send(User $user): bool;
}

trait Retries
{
    protected int $retries = 3;

    protected function again(callable $job): void
    {
        $job();
    }
}

enum Priority: string implements HasLabel
{
    case High = 'high';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

#[Service('mail')]
final class Mailer extends Transport implements Sendable, Contracts\Mailer
{
    use Retries;

    public const LIMIT = 5;

    public function __construct(private Logger $logger) {}

    #[Override]
    public function send(User $user): bool
    {
        $mail = new Mail(render('welcome', $user));
        $this->logger->info(Clock::now()->format('c'));
        $this->again(fn () => parent::send($mail));
        return Jobs::push($mail, self::LIMIT) && \strlen($user->name) > 0;
    }
}

function quick_mail(string $to): void
{
    (new Mailer(logger()))->send(User::find($to));
}

quick_mail('a@b.c');
