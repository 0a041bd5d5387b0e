defmodule Jobs.Worker do
  @moduledoc """
  Takes jobs from a queue.
  """

  use GenServer
  import Ecto.Query, only: [from: 2]
  alias Jobs.{Queue, Store}
  alias Jobs.Errors.Failed, as: Failure
  require Logger

  @max_jobs 10

  defstruct [:id, :state]

  @type t :: %__MODULE__{id: integer}

  @doc "Starts a worker."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts, name: __MODULE__)
  end

  @impl true
  def handle_call({:take, id}, _from, state) when is_integer(id) do
    job = Queue.pop(id)
    Logger.info("took #{inspect(job)}")
    {:reply, run(job), state}
  end

  def handle_call(:stop, _from, state), do: {:stop, :normal, state}

  # Runs one.
  defp run(job) do
    job
    |> Store.load()
    |> Enum.map(&perform/1)
  rescue
    error in Failure -> log(error)
  end

  defmacro traced(name, do: block) do
    quote do
      unquote(block)
    end
  end

  defmodule State do
    def empty, do: %{}
  end
end

defprotocol Jobs.Runnable do
  def run(thing)
end

defimpl Jobs.Runnable, for: Map do
  def run(map), do: Jobs.Worker.start_link(map)
end
